import type { Tx } from '../database.ts'

/** The tables of liveness with the names of their keys. */
const keyColumns = {
  livenessChallenges: 'challengeId',
  livenessSessions: 'sessionId',
} as const

/** Deletes rows that expired at `beforeMs` or earlier. @returns the number, at most the limit. */
export async function deleteExpiredRows(
  { build, run }: Tx,
  table: keyof typeof keyColumns,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const key = build.dynamic.ref(keyColumns[table])
  const expired = build.selectFrom(table).select(key).where('expiresAtMs', '<=', beforeMs)
  const query = build.deleteFrom(table).where(key, 'in', expired.limit(limit)).returning(key)
  return (await run(query)).length
}
