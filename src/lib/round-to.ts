/** Rounds to a number of decimals, and never returns −0: 0.80 − 0.75 is 0.05 with four. */
export function roundTo(value: number, digits: number): number {
  const factor = 10 ** digits
  // Adding zero turns −0 into 0.
  return Math.round(value * factor) / factor + 0
}
