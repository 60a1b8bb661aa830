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

export function addUser(tx: Tx, user: Omit<User, 'nameKey'>): User {
  const row = { ...user, nameKey: nameKeyOf(user.name) }
  tx.run(tx.build.insertInto('users').values(row))
  return row
}

export function changeUser(tx: Tx, userId: string, change: Updateable<UserRow>): void {
  tx.run(tx.build.updateTable('users').set(change).where('userId', '=', userId))
}

export function findUser(reading: Reading, userId: string): User | undefined {
  const query = reading.build.selectFrom('users').selectAll().where('userId', '=', userId)
  return reading.run(query)[0]
}

export function findUserByName(reading: Reading, name: string): User | undefined {
  const query = reading.build.selectFrom('users').selectAll()
  return reading.run(query.where('nameKey', '=', nameKeyOf(name)))[0]
}

/** Everybody, in the order of their names. */
export function listUsers(reading: Reading, accountId: string): readonly User[] {
  const query = reading.build.selectFrom('users').selectAll().where('accountId', '=', accountId)
  return reading.run(query.orderBy('nameKey'))
}

/** Whether anybody can sign in: until then the console waits to be set up. */
export function isAnybodyThere(reading: Reading): boolean {
  const query = reading.build.selectFrom('users').select('userId').where('password', 'is not', null)
  return reading.run(query.limit(1)).length > 0
}
