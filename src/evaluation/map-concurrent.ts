import { availableParallelism } from 'node:os'

/**
 * The number of images that an evaluation holds in memory. It keeps one vision worker per core busy
 * while the next images are read.
 */
export const imagesInFlightMax = Math.max(16, 2 * availableParallelism())

/**
 * Calls `work` for every item, at most `imagesInFlightMax` at a time, and returns the results in the
 * order of `items`.
 *
 * @param onProgress is called after each item.
 */
export async function mapConcurrent<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  onProgress: (done: number, total: number) => void,
): Promise<R[]> {
  const results: R[] = []
  const remaining = items.entries()
  let done = 0
  const run = async (): Promise<void> => {
    for (const [index, item] of remaining) {
      results[index] = await work(item)
      onProgress(++done, items.length)
    }
  }
  await Promise.all(Array.from({ length: imagesInFlightMax }, run))
  return results
}
