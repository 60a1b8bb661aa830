import type { LinkRow } from '../console-schema.ts'
import type { ReadTx, Tx } from '../database.ts'

/** Creates a link and deletes the older one for the same user. */
export async function addInviteLink(tx: Tx, link: LinkRow): Promise<void> {
  const { userId } = link
  await tx.lock(`links of ${userId ?? 'owners'}`, 'exclusive')
  const older = tx.build.deleteFrom('links')
  await tx.run(
    userId === null ? older.where('userId', 'is', null) : older.where('userId', '=', userId),
  )
  await tx.run(tx.build.insertInto('links').values(link))
}

/** Finds a link that has not expired. */
export async function findInviteLink(
  tx: ReadTx,
  tokenHash: Uint8Array,
  nowMs: number,
): Promise<LinkRow | undefined> {
  const query = tx.build.selectFrom('links').selectAll().where('tokenHash', '=', tokenHash)
  return (await tx.run(query.where('expiresAtMs', '>', nowMs)))[0]
}

/** Deletes a link after its use, because each is valid once. */
export async function removeInviteLink(tx: Tx, tokenHash: Uint8Array): Promise<void> {
  await tx.run(tx.build.deleteFrom('links').where('tokenHash', '=', tokenHash))
}

/** Deletes the open links of a user. */
export async function removeInviteLinksOf(tx: Tx, userId: string): Promise<void> {
  await tx.lock(`links of ${userId}`, 'exclusive')
  await tx.run(tx.build.deleteFrom('links').where('userId', '=', userId))
}
