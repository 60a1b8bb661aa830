import { sql, type ReadTx, type Store } from '../../../src/store/database.ts'

/**
 * Returns a store that adds the change of the number of subjects in each job to a list, if the number
 * becomes smaller.
 *
 * @param where the subjects to count, as SQL.
 */
export function recordChanges(store: Store, where: string, changes: number[]): Store {
  return {
    ...store,
    write: (job) =>
      store.write(async (tx) => {
        const before = await count(tx, where)
        const value = await job(tx)
        const change = before - (await count(tx, where))
        if (change > 0) changes.push(change)
        return value
      }),
  }
}

async function count(tx: ReadTx, where: string): Promise<number> {
  const rows = tx.build.selectFrom('subjects').select(sql<number>`count(*)`.as('count'))
  return (await tx.run(rows.where(sql<boolean>`${sql.raw(where)}`)))[0]?.count ?? 0
}
