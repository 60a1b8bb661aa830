import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ReadTx, type Store, sql } from '../database.ts'
import { accountProjectIds } from '../tenancy/projects.ts'

export type KeyUsageFilter = {
  readonly accountId: string
  readonly keyIds: readonly string[]
  /** Both are full hours, UTC. The recent period ends at the same time as the whole one. */
  readonly fromMs: number
  readonly recentFromMs: number
}

/**
 * Sums the hourly counts of each key in the whole period and in its recent part. Keys without calls are
 * left out. Each key is a separate read, so that calls run in between: it has thousands of counts.
 */
export async function sumKeyUsage({ read }: Pick<Store, 'read'>, filter: KeyUsageFilter) {
  const rows: Awaited<ReturnType<typeof sumOneKey>>[number][] = []
  for (const keyId of new Set(filter.keyIds)) {
    rows.push(...(await read((tx) => sumOneKey(tx, keyId, filter))))
    await nextTurn()
  }
  return rows
}

/** Finds the counts by an index of key and hour. */
function sumOneKey(tx: ReadTx, keyId: string, filter: KeyUsageFilter) {
  const { accountId, fromMs, recentFromMs } = filter
  const isFailed = sql`code <> 'OK'`
  const isRecent = sql`"hourMs" >= ${sql.lit(recentFromMs)}`
  const sum = <T>(column: string, condition = sql`true`) =>
    sql<T>`sum(case when ${condition} then ${sql.ref(column)} else 0 end)`
  const query = tx.build
    .selectFrom('callHours')
    .select([
      'keyId',
      sum<number>('calls').as('calls'),
      sum<number>('calls', isFailed).as('failed'),
      sum<bigint>('costMicros').as('costMicros'),
      sum<bigint>('meteredMicros').as('meteredMicros'),
      sum<number>('calls', isRecent).as('recentCalls'),
      sum<number>('calls', sql`${isFailed} and ${isRecent}`).as('recentFailed'),
      sum<bigint>('costMicros', isRecent).as('recentCostMicros'),
      sum<bigint>('meteredMicros', isRecent).as('recentMeteredMicros'),
    ])
    .where('keyId', '=', keyId)
    .where('hourMs', '>=', fromMs)
    .where('projectId', 'in', accountProjectIds(tx.build, accountId))
    .groupBy('keyId')
  return tx.run(query)
}
