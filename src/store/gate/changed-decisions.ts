import { type ReadTx, sql } from '../database.ts'

/** The latest calls of a project that are read. More would delay the other reads of SQLite. */
const callsMax = 30_000

/** The decisions of svc.identify that another threshold would change. */
export type ThresholdEffect = {
  readonly calls: number
  /** Whether the project has more than `callsMax` calls: only the latest were read. */
  readonly isCapped: boolean
  readonly matches: number
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
    .select(['action', 'outcome', 'similarity'])
    .where('projectId', '=', projectId)
    .where('atMs', '>=', fromMs)
    .orderBy('atMs', 'desc')
    .limit(callsMax + 1)
  const counted = (condition: ReturnType<typeof sql<boolean>>) =>
    sql<number>`coalesce(sum(case when action = 'svc.identify' and ${condition} then 1 else 0 end), 0)`
  const [row] = await tx.run(
    tx.build
      .selectFrom(latest.as('latest'))
      .select([
        sql<number>`count(*)`.as('read'),
        counted(sql`outcome is not null`).as('calls'),
        counted(sql`outcome = 'match'`).as('matches'),
        counted(sql`outcome <> 'match' and similarity >= ${threshold}`).as('newMatches'),
        counted(sql`outcome = 'match' and similarity < ${threshold}`).as('lostMatches'),
      ]),
  )
  const { read = 0, ...counts } = row ?? { calls: 0, matches: 0, newMatches: 0, lostMatches: 0 }
  return { ...counts, isCapped: read > callsMax }
}
