import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ReadTx, type Store, sql } from '../database.ts'
import { pageByTime, selectPage } from '../lists.ts'
import type { CallCursor } from './calls.ts'

/** The latest calls of a project that are read. More would delay the other reads of SQLite. */
const callsMax = 30_000

/** Calls that one read of SQLite counts: about 6 ms of the event loop. PostgreSQL does not block it. */
const stepCalls = 5000

type DecisionFilter = {
  readonly projectId: string
  /** 0 to 1. */
  readonly threshold: number
  readonly fromMs: number
}

/**
 * Counts the latest calls of svc.identify whose outcome another threshold would change. SQLite reads
 * them in steps, so that other calls run in between.
 */
export async function countChangedDecisions(
  { read, isShared }: Pick<Store, 'read' | 'isShared'>,
  filter: DecisionFilter,
) {
  const sum = { read: 0, calls: 0, matches: 0, newMatches: 0, lostMatches: 0 }
  const stepMax = isShared ? callsMax + 1 : stepCalls
  for (let after: CallCursor | undefined; ;) {
    const limit = Math.min(stepMax, callsMax + 1 - sum.read)
    const { counts, end } = await read((tx) => countStep(tx, filter, { after, limit }))
    for (const name of ['read', 'calls', 'matches', 'newMatches', 'lostMatches'] as const)
      sum[name] += counts?.[name] ?? 0
    if (!end || sum.read > callsMax) break
    after = end
    await nextTurn()
  }
  const { read: readCount, ...counts } = sum
  /** Whether the project has more than `callsMax` calls: only the latest were read. */
  const isCapped = readCount > callsMax
  return { ...counts, isCapped }
}

/** Counts up to `limit` calls. `end` is the position of the last one; undefined at the end of the log. */
async function countStep(
  tx: ReadTx,
  { projectId, threshold, fromMs }: DecisionFilter,
  { after, limit }: { readonly after: CallCursor | undefined; readonly limit: number },
) {
  const calls = tx.build.selectFrom('calls').where('projectId', '=', projectId)
  const page = selectPage(calls, {
    columns: ['atMs', 'callId'],
    ...pageByTime({ fromMs, after, limit }, (call) => call.callId),
  })
  const counted = (condition: ReturnType<typeof sql<boolean>>) =>
    sql<number>`coalesce(sum(case when action = 'svc.identify' and ${condition} then 1 else 0 end), 0)`
  const [counts] = await tx.run(
    tx.build
      .selectFrom(page.select(['action', 'outcome', 'similarity']).as('latest'))
      .select([
        sql<number>`count(*)`.as('read'),
        counted(sql`outcome is not null`).as('calls'),
        counted(sql`outcome = 'match'`).as('matches'),
        counted(sql`outcome <> 'match' and similarity >= ${threshold}`).as('newMatches'),
        counted(sql`outcome = 'match' and similarity < ${threshold}`).as('lostMatches'),
      ]),
  )
  const last = page
    .clearLimit()
    .limit(1)
    .offset(limit - 1)
  const [end] = await tx.run(last.select(['atMs', 'callId']))
  return { counts, end }
}
