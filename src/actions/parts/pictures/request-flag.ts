/**
 * Returns whether the parameters of a request, before their validation, set a flag that makes the
 * action analyze all images. The price of a call is determined before its validation.
 */
export function isFlagSet(params: unknown, flag: 'allImages' | 'sameSubject'): boolean {
  return (Object(params) as Readonly<Record<string, unknown>>)[flag] === true
}
