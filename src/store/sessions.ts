import type { SessionRow, UserRow } from './console-schema.ts'
import type { Reading, Tx } from './tx.ts'

export type OpenSession = SessionRow &
  Pick<UserRow, 'accountId' | 'name' | 'role' | 'disabledAtUtc'>

/** A session and whose it is, by the hash of its token. */
export function findSession(reading: Reading, tokenHash: Uint8Array): OpenSession | undefined {
  const query = reading.build
    .selectFrom('sessions')
    .innerJoin('users', 'users.userId', 'sessions.userId')
    .selectAll('sessions')
    .select(['accountId', 'name', 'role', 'disabledAtUtc'])
    .where('tokenHash', '=', tokenHash)
  return reading.run(query)[0]
}

export function addSession(tx: Tx, session: SessionRow): void {
  tx.run(tx.build.insertInto('sessions').values(session))
}

export function touchSession(tx: Tx, tokenHash: Uint8Array, nowMs: number): void {
  const query = tx.build.updateTable('sessions').set({ lastSeenAtMs: nowMs })
  tx.run(query.where('tokenHash', '=', tokenHash))
}

export function endSession(tx: Tx, tokenHash: Uint8Array): void {
  tx.run(tx.build.deleteFrom('sessions').where('tokenHash', '=', tokenHash))
}

export function endSessionsOf(tx: Tx, userId: string): void {
  tx.run(tx.build.deleteFrom('sessions').where('userId', '=', userId))
}

/** Forgets sessions that are over: begun before the one moment, or unused since the other. */
export function forgetSessions(tx: Tx, begunMs: number, seenMs: number): void {
  const query = tx.build.deleteFrom('sessions')
  tx.run(
    query.where((row) =>
      row.or([row('createdAtMs', '<', begunMs), row('lastSeenAtMs', '<', seenMs)]),
    ),
  )
}
