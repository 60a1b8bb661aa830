import type { Store, Tx } from './database.ts'

/** Rows per transaction, so that calls do not wait long. */
const batchRows = 500

/** Deletes rows in separate transactions until none is left. @returns the number of rows. */
export async function deleteInBatches(
  { write }: Pick<Store, 'write'>,
  deleteBatch: (tx: Tx, limit: number) => Promise<number>,
): Promise<number> {
  for (let total = 0; ;) {
    const count = await write((tx) => deleteBatch(tx, batchRows))
    total += count
    if (count < batchRows) return total
  }
}
