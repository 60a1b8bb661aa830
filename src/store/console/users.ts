import type { Selectable, Updateable } from 'kysely'
import type { LinkRow, UserRow } from '../console-schema.ts'
import type { ReadTx, Tx } from '../database.ts'

export type ConsoleUser = Selectable<UserRow>
export type UserRole = ConsoleUser['role']

/** The roles. Each one includes the rights of all later ones. */
export const userRoles = ['owner', 'admin', 'viewer'] as const satisfies readonly UserRole[]

/** Returns the form in which names are compared: Unicode NFKC, in lower case, without joiners. */
export function userNameKey(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\u200C\u200D]/gu, '')
}

/** Returns undefined if a user has the name, also one of another account, whose rows are not visible. */
export async function addUser(tx: Tx, user: Omit<ConsoleUser, 'nameKey'>) {
  const row = { ...user, nameKey: userNameKey(user.name) }
  const insertion = tx.build.insertInto('users').values(row).returningAll()
  const added = await tx.run(insertion.onConflict((conflict) => conflict.doNothing()))
  return added[0]
}

export async function updateUser(tx: Tx, userId: string, change: Updateable<UserRow>) {
  await tx.run(tx.build.updateTable('users').set(change).where('userId', '=', userId))
}

export async function findUser(tx: ReadTx, userId: string): Promise<ConsoleUser | undefined> {
  const query = tx.build.selectFrom('users').selectAll().where('userId', '=', userId)
  return (await tx.run(query))[0]
}

export async function findUserByName(tx: ReadTx, name: string): Promise<ConsoleUser | undefined> {
  const query = tx.build.selectFrom('users').selectAll()
  return (await tx.run(query.where('nameKey', '=', userNameKey(name))))[0]
}

/** Lists all users of an account in the order of their names. */
export function listUsers(tx: ReadTx, accountId: string): Promise<readonly ConsoleUser[]> {
  const query = tx.build.selectFrom('users').selectAll().where('accountId', '=', accountId)
  return tx.run(query.orderBy('nameKey'))
}

/** Returns whether any user has a password. Until then the console shows its setup page. */
export async function hasActiveUser(tx: ReadTx): Promise<boolean> {
  const query = tx.build.selectFrom('users').select('userId').where('password', 'is not', null)
  return (await tx.run(query.limit(1))).length > 0
}

/** Creates a link and deletes the older one for the same user. */
export async function addInviteLink(tx: Tx, link: LinkRow): Promise<void> {
  await removeInviteLink(tx, link.userId)
  await tx.run(tx.build.insertInto('links').values(link))
}

/** Deletes the link of a user; null: of an owner. @returns false if there is none. */
export async function removeInviteLink(tx: Tx, userId: string | null): Promise<boolean> {
  await tx.lock(`links of ${userId ?? 'owners'}`, 'exclusive')
  const query = tx.build.deleteFrom('links').where('userId', userId === null ? 'is' : '=', userId)
  return (await tx.run(query.returning('tokenHash'))).length > 0
}

/** Deletes the links that a user created. */
export async function removeCreatedLinks(tx: Tx, creatorId: string): Promise<void> {
  await tx.run(tx.build.deleteFrom('links').where('creatorId', '=', creatorId))
}

/** Finds a link that has not expired. The name of its creator is null for the command line. */
export async function findInviteLink(tx: ReadTx, tokenHash: Uint8Array, nowMs: number) {
  return (await tx.run(openLinks(tx, nowMs).where('tokenHash', '=', tokenHash)))[0]
}

export function listOpenLinks(tx: ReadTx, nowMs: number) {
  return tx.run(openLinks(tx, nowMs))
}

function openLinks(tx: ReadTx, nowMs: number) {
  const query = tx.build.selectFrom('links').where('expiresAtMs', '>', nowMs).selectAll('links')
  return query.leftJoin('users', 'users.userId', 'creatorId').select('name as creatorName')
}
