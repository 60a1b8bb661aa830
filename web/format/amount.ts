/** Amounts are stored as whole micro-units and shown in units. */
const microsPerUnit = 1_000_000n

/**
 * Formats an amount exactly: `"1500000"` → `1.50`, `"-2500"` → `-0.0025`. There are at least two
 * decimals and no rounding.
 */
export function formatAmount(micros: string | bigint): string {
  const value = BigInt(micros)
  const absolute = value < 0n ? -value : value
  const fraction = (absolute % microsPerUnit)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/u, '')
  const whole = (absolute / microsPerUnit).toString().replaceAll(/\B(?=(?:\d{3})+$)/gu, '\u202F')
  return `${value < 0n ? '−' : ''}${whole}.${fraction}`
}

/**
 * Parses typed text as micro-units: `12.5` → `"12500000"`. It also accepts the output of
 * `formatAmount`. Returns undefined for invalid text.
 */
export function parseAmountMicros(text: string): string | undefined {
  const plain = text.trim().replaceAll('\u202F', '').replace('−', '-')
  const match = /^(-?)(\d{1,13})(?:\.(\d{0,6}))?$/u.exec(plain)
  if (!match) return undefined
  const [, sign = '', whole = '0', fraction = ''] = match
  const micros = BigInt(whole) * microsPerUnit + BigInt(fraction.padEnd(6, '0'))
  return `${sign}${micros}`
}
