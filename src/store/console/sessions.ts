import type { SessionRow } from '../console-schema.ts'
import type { ReadTx, Tx } from '../database.ts'
import { removeCreatedLinks, removeInviteLink } from './users.ts'

/** Finds a session and its user by the hash of the token. */
export async function findSession(tx: ReadTx, tokenHash: Uint8Array) {
  const query = tx.build
    .selectFrom('sessions')
    .innerJoin('users', 'users.userId', 'sessions.userId')
    .selectAll('sessions')
    .select(['accountId', 'name', 'role', 'disabledAtUtc'])
    .where('tokenHash', '=', tokenHash)
  return (await tx.run(query))[0]
}

export async function addSession(tx: Tx, session: SessionRow): Promise<void> {
  await tx.run(tx.build.insertInto('sessions').values(session))
}

export async function touchSession(tx: Tx, tokenHash: Uint8Array, nowMs: number): Promise<void> {
  const query = tx.build.updateTable('sessions').set({ lastSeenAtMs: nowMs })
  await tx.run(query.where('tokenHash', '=', tokenHash))
}

export async function endSession(tx: Tx, tokenHash: Uint8Array): Promise<void> {
  await tx.run(tx.build.deleteFrom('sessions').where('tokenHash', '=', tokenHash))
}

/** Ends all sessions of a user, and deletes the links that were created in them. */
export async function endUserSessions(tx: Tx, userId: string): Promise<void> {
  await removeCreatedLinks(tx, userId)
  await tx.run(tx.build.deleteFrom('sessions').where('userId', '=', userId))
}

/** Also deletes the link for the user: for a disabled user and a new password. */
export async function endUserAccess(tx: Tx, userId: string): Promise<void> {
  await endUserSessions(tx, userId)
  await removeInviteLink(tx, userId)
}

/** Lists the sessions of a user, the last used first. */
export function listUserSessions(tx: ReadTx, userId: string): Promise<readonly SessionRow[]> {
  const query = tx.build.selectFrom('sessions').selectAll().where('userId', '=', userId)
  return tx.run(query.orderBy('lastSeenAtMs', 'desc').orderBy('createdAtMs', 'desc'))
}

/** Ends all sessions of a user except for one. */
export async function endOtherSessions(tx: Tx, userId: string, keptTokenHash: Uint8Array) {
  const query = tx.build.deleteFrom('sessions').where('userId', '=', userId)
  await tx.run(query.where('tokenHash', '!=', keptTokenHash))
}

/** Deletes sessions that were created before the first time, or last used before the second. */
export async function deleteExpiredSessions(tx: Tx, createdBeforeMs: number, usedBeforeMs: number) {
  const query = tx.build.deleteFrom('sessions')
  await tx.run(
    query.where((row) =>
      row.or([row('createdAtMs', '<', createdBeforeMs), row('lastSeenAtMs', '<', usedBeforeMs)]),
    ),
  )
}
