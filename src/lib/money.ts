/**
 * Money is a `bigint` of micro-units (a millionth of the account's currency), never a float. The
 * database keeps it as a 64-bit integer; on the wire and in JSON it is a string of digits.
 */
export type Micros = bigint

/** The largest amount that a 64-bit signed integer of the database can hold. */
export const microsMax: Micros = 2n ** 63n - 1n

/**
 * Reads whole micro-units, exact to the last digit, with an optional minus sign.
 *
 * @throws RangeError for anything else, and beyond 64 bits.
 */
export function parseMicros(text: string): Micros {
  if (!/^-?\d{1,19}$/u.test(text)) throw new RangeError(`${text} is no whole number of micros`)
  const value = BigInt(text)
  if (value > microsMax || value < -microsMax) throw new RangeError(`${text} micros are too many`)
  return value
}
