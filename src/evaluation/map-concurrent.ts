/**
 * Calls `work` for every item, at most 16 at a time, and returns the results in the order of
 * `items`. 16 keep all vision workers busy without holding many images in memory.
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
  await Promise.all(Array.from({ length: concurrency }, run))
  return results
}

const concurrency = 16
