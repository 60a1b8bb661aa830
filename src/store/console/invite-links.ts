import type { LinkRow } from '../console-schema.ts'
import type { ReadTx, Tx } from '../tx.ts'

/** Makes a link, the only one of its kind: an older one for the same user opens nothing any more. */
export async function addInviteLink(tx: Tx, link: LinkRow): Promise<void> {
  const { userId } = link
  await tx.lock(`links of ${userId ?? 'owners'}`, 'alone')
  const same = tx.build.deleteFrom('links')
  await tx.run(
    userId === null ? same.where('userId', 'is', null) : same.where('userId', '=', userId),
  )
  await tx.run(tx.build.insertInto('links').values(link))
}

/** A link that is not over yet. */
export async function findInviteLink(
  reading: ReadTx,
  tokenHash: Uint8Array,
  nowMs: number,
): Promise<LinkRow | undefined> {
  const query = reading.build.selectFrom('links').selectAll().where('tokenHash', '=', tokenHash)
  return (await reading.run(query.where('expiresAtMs', '>', nowMs)))[0]
}

/** Ends a link: each opens once. */
export async function removeInviteLink(tx: Tx, tokenHash: Uint8Array): Promise<void> {
  await tx.run(tx.build.deleteFrom('links').where('tokenHash', '=', tokenHash))
}
