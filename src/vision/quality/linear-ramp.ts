/** 0 at `none` and beyond, 1 at `full` and beyond, straight between; either may be the larger. */
export function linearRamp(value: number, none: number, full: number): number {
  return Math.min(1, Math.max(0, (value - none) / (full - none)))
}
