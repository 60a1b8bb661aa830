/** Returns 0 up to `zeroAt`, 1 from `oneAt` on, and a linear value between; either may be larger. */
export function linearRamp(value: number, zeroAt: number, oneAt: number): number {
  return Math.min(1, Math.max(0, (value - zeroAt) / (oneAt - zeroAt)))
}
