/**
 * An amount of money: a `bigint` of micro-units (millionths of the currency of the account), never a
 * float. The database stores a 64-bit integer; JSON contains a string of digits.
 */
export type Micros = bigint

/** The largest amount that fits a signed 64-bit integer of the database. */
export const microsMax: Micros = 2n ** 63n - 1n

/**
 * Parses an exact integer of micro-units with an optional minus sign.
 *
 * @throws RangeError for other text and for amounts beyond 64 bits.
 */
export function parseMicros(text: string): Micros {
  if (!/^-?\d{1,19}$/u.test(text)) throw new RangeError(`${text} is not an integer of micro-units`)
  const value = BigInt(text)
  if (value > microsMax || value < -microsMax)
    throw new RangeError(`${text} micro-units exceed 64 bits`)
  return value
}
