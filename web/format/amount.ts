/** A millionth is the unit of every amount; people read the whole and its fraction. */
const microsPerUnit = 1_000_000n

/**
 * An amount for people, exact: `"1500000"` → `1.50`, `"-2500"` → `-0.0025`. At least two decimals,
 * never rounded.
 */
export function formatAmount(micros: string | bigint): string {
  const value = BigInt(micros)
  const size = value < 0n ? -value : value
  const fraction = (size % microsPerUnit)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/u, '')
  const whole = (size / microsPerUnit).toString().replaceAll(/\B(?=(?:\d{3})+$)/gu, '\u202F')
  return `${value < 0n ? '−' : ''}${whole}.${fraction}`
}

/**
 * What somebody typed, as micro-units: `12.5` → `"12500000"`; also an amount as it is shown.
 * Nothing when it is no amount.
 */
export function parseAmountMicros(text: string): string | undefined {
  const plain = text.trim().replaceAll('\u202F', '').replace('−', '-')
  const match = /^(-?)(\d{1,12})(?:\.(\d{0,6}))?$/u.exec(plain)
  if (!match) return undefined
  const [, sign = '', whole = '0', fraction = ''] = match
  const micros = BigInt(whole) * microsPerUnit + BigInt(fraction.padEnd(6, '0'))
  return `${sign}${micros}`
}
