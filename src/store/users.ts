import type { Selectable, Updateable } from 'kysely'
import type { UserRow } from './console-schema.ts'
import type { Reading, Tx } from './tx.ts'

export type User = Selectable<UserRow>
export type Role = User['role']

/** Roles, each of which may do all that those after it may. */
export const roles = ['owner', 'admin', 'viewer'] as const satisfies readonly Role[]

/** Names are compared without case, in one normal form of Unicode. */
export function nameKeyOf(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}

export async function addUser(tx: Tx, user: Omit<User, 'nameKey'>): Promise<User> {
  const row = { ...user, nameKey: nameKeyOf(user.name) }
  await tx.run(tx.build.insertInto('users').values(row))
  return row
}

export async function changeUser(
  tx: Tx,
  userId: string,
  change: Updateable<UserRow>,
): Promise<void> {
  await tx.run(tx.build.updateTable('users').set(change).where('userId', '=', userId))
}

export async function findUser(reading: Reading, userId: string): Promise<User | undefined> {
  const query = reading.build.selectFrom('users').selectAll().where('userId', '=', userId)
  return (await reading.run(query))[0]
}

export async function findUserByName(reading: Reading, name: string): Promise<User | undefined> {
  const query = reading.build.selectFrom('users').selectAll()
  return (await reading.run(query.where('nameKey', '=', nameKeyOf(name))))[0]
}

/** Everybody, in the order of their names. */
export function listUsers(reading: Reading, accountId: string): Promise<readonly User[]> {
  const query = reading.build.selectFrom('users').selectAll().where('accountId', '=', accountId)
  return reading.run(query.orderBy('nameKey'))
}

/** Whether anybody can sign in: until then the console waits to be set up. */
export async function isAnybodyThere(reading: Reading): Promise<boolean> {
  const query = reading.build.selectFrom('users').select('userId').where('password', 'is not', null)
  return (await reading.run(query.limit(1))).length > 0
}
