import type { Selectable, Updateable } from 'kysely'
import type { UserRow } from '../console-schema.ts'
import type { ReadTx, Tx } from '../tx.ts'

export type ConsoleUser = Selectable<UserRow>
export type UserRole = ConsoleUser['role']

/** Roles, each of which may do all that those after it may. */
export const userRoles = ['owner', 'admin', 'viewer'] as const satisfies readonly UserRole[]

/** Names are compared without case, in one normal form of Unicode. */
export function userNameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}

export async function addUser(tx: Tx, user: Omit<ConsoleUser, 'nameKey'>): Promise<ConsoleUser> {
  const row = { ...user, nameKey: userNameKey(user.name) }
  await tx.run(tx.build.insertInto('users').values(row))
  return row
}

export async function updateUser(
  tx: Tx,
  userId: string,
  change: Updateable<UserRow>,
): Promise<void> {
  await tx.run(tx.build.updateTable('users').set(change).where('userId', '=', userId))
}

export async function findUser(reading: ReadTx, userId: string): Promise<ConsoleUser | undefined> {
  const query = reading.build.selectFrom('users').selectAll().where('userId', '=', userId)
  return (await reading.run(query))[0]
}

export async function findUserByName(
  reading: ReadTx,
  name: string,
): Promise<ConsoleUser | undefined> {
  const query = reading.build.selectFrom('users').selectAll()
  return (await reading.run(query.where('nameKey', '=', userNameKey(name))))[0]
}

/** Everybody, in the order of their names. */
export function listUsers(reading: ReadTx, accountId: string): Promise<readonly ConsoleUser[]> {
  const query = reading.build.selectFrom('users').selectAll().where('accountId', '=', accountId)
  return reading.run(query.orderBy('nameKey'))
}

/** Whether anybody can sign in: until then the console waits to be set up. */
export async function hasActiveUser(reading: ReadTx): Promise<boolean> {
  const query = reading.build.selectFrom('users').select('userId').where('password', 'is not', null)
  return (await reading.run(query.limit(1))).length > 0
}
