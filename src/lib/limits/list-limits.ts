/** The largest number of items that a list with conditions counts, so that counting stays cheap. */
export const listCountMax = 10_000

/** The number of items on all pages of a list. */
export type ListCount = {
  readonly total: number
  /** There are more items than `total`. */
  readonly isCapped: boolean
}

/** Returns the number of items of a list from a count of at most one more than the limit. */
export function toListCount(counted: number): ListCount {
  return { total: Math.min(counted, listCountMax), isCapped: counted > listCountMax }
}
