/**
 * Ends a branch that no value of a union reaches. A value that is added to the union is an error of the
 * compiler there.
 *
 * @throws Error with the value, which the types do not permit.
 */
export function unreachable(value: never): never {
  throw new Error(`the value ${JSON.stringify(value)} is not permitted`)
}
