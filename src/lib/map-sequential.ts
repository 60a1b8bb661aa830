/**
 * Runs the work for each item sequentially: a transaction runs one statement at a time. `Array.fromAsync`
 * does not replace it: on Node 22 it loses the asynchronous context, and so the account scope and the
 * trace of the call.
 */
export async function mapSequential<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result> | Result,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await work(item))
  return results
}
