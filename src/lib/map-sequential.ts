/**
 * The same work for each item, one after the other: within a transaction there is one question at a
 * time.
 */
export async function mapSequential<Item, Made>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Made> | Made,
): Promise<Made[]> {
  const made: Made[] = []
  for (const item of items) made.push(await work(item))
  return made
}
