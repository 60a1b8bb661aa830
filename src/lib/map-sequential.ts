/** Runs the work for each item sequentially: a transaction runs one statement at a time. */
export async function mapSequential<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result> | Result,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await work(item))
  return results
}
