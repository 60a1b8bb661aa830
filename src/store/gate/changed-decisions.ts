import { sql } from '../load-kysely.ts'
import type { ReadTx } from '../tx.ts'

/** More rows would delay the other reads of SQLite. */
const decisionsMax = 10_000

/** The decisions of svc.identify that another threshold would change. */
export type ThresholdEffect = {
  readonly calls: number
  /** Whether only the latest calls were counted. */
  readonly isCapped: boolean
  readonly newMatches: number
  readonly lostMatches: number
}

type DecisionFilter = {
  readonly projectId: string
  /** 0 to 1. */
  readonly threshold: number
  readonly fromMs: number
}

/** Counts the latest calls of svc.identify whose outcome another threshold would change. */
export async function countChangedDecisions(
  tx: ReadTx,
  { projectId, threshold, fromMs }: DecisionFilter,
): Promise<ThresholdEffect> {
  const latest = tx.build
    .selectFrom('calls')
    .select(['outcome', 'similarity'])
    .where('projectId', '=', projectId)
    .where('action', '=', 'svc.identify')
    .where('outcome', 'is not', null)
    .where('atMs', '>=', fromMs)
    .orderBy('atMs', 'desc')
    .limit(decisionsMax + 1)
  const counted = (condition: ReturnType<typeof sql<boolean>>) =>
    sql<number>`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`
  const [row] = await tx.run(
    tx.build
      .selectFrom(latest.as('latest'))
      .select([
        sql<number>`count(*)`.as('calls'),
        counted(sql`outcome <> 'match' and similarity >= ${threshold}`).as('newMatches'),
        counted(sql`outcome = 'match' and similarity < ${threshold}`).as('lostMatches'),
      ]),
  )
  const { calls = 0, newMatches = 0, lostMatches = 0 } = row ?? {}
  return {
    calls: Math.min(calls, decisionsMax),
    isCapped: calls > decisionsMax,
    newMatches,
    lostMatches,
  }
}
