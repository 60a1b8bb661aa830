/**
 * An amount of money: a `bigint` of micro-units (millionths of the currency of the account), never a
 * float. The database stores a 64-bit integer; JSON contains a string of digits.
 */
export type Micros = bigint

/** The only currency of this version. Amounts are millionths of it. */
export const currency = 'USD'

/** The largest amount that fits a signed 64-bit integer of the database. */
export const microsMax: Micros = 2n ** 63n - 1n

/** Digits of the price of one unit: the sums of the prices of calls must fit 64 bits. */
export const unitPriceDigitsMax = 12

/**
 * Parses an exact integer of micro-units with an optional minus sign.
 *
 * @throws RangeError for other text and for amounts beyond 64 bits.
 */
export function parseMicros(text: string): Micros {
  if (!/^-?\d+$/u.test(text)) throw new RangeError(`${text} is not an integer of micro-units`)
  const value = BigInt(text)
  if (value > microsMax || value < -microsMax)
    throw new RangeError(`${text} micro-units exceed 64 bits`)
  return value
}

const microsPerUnit = 1_000_000n

/** Formats an amount with its currency: `1500000n` → `1.50 USD`. */
export function formatAmount(micros: Micros): string {
  return `${formatUnits(micros)} ${currency}`
}

/** Formats an amount exactly, with at least two decimals: `1500000n` → `1.50`. */
export function formatUnits(micros: Micros): string {
  const absolute = micros < 0n ? -micros : micros
  const fraction = String(absolute % microsPerUnit)
    .padStart(6, '0')
    .replace(/0{1,4}$/u, '')
  const whole = String(absolute / microsPerUnit).replaceAll(/\B(?=(?:\d{3})+$)/gu, '\u202F')
  return `${micros < 0n ? '−' : ''}${whole}.${fraction}`
}
