/** A half (IEEE 754 binary16: 1 bit of sign, 5 of exponent, 10 of fraction) from its bits. */
export function float16FromBits(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * 2 ** -24 * fraction
  if (exponent === 0x1f) return fraction ? Number.NaN : sign * Infinity
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024)
}
