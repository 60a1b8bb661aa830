import { type ReadTx, sql } from '../database.ts'
import { accountProjectIds } from '../tenancy/projects.ts'

export type KeyUsageFilter = {
  readonly accountId: string
  readonly keyIds: readonly string[]
  /** Both are full hours, UTC. The recent period ends at the same time as the whole one. */
  readonly fromMs: number
  readonly recentFromMs: number
}

/**
 * Sums the hourly counts of each key in the whole period and in its recent part, by an index of key
 * and hour. Keys without calls are left out.
 */
export async function sumKeyUsage(
  tx: ReadTx,
  { accountId, keyIds, fromMs, recentFromMs }: KeyUsageFilter,
) {
  if (keyIds.length === 0) return []
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
    .where('keyId', 'in', [...keyIds])
    .where('hourMs', '>=', fromMs)
    .where('projectId', 'in', accountProjectIds(tx.build, accountId))
    .groupBy('keyId')
  return tx.run(query)
}
