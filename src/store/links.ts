import type { LinkRow } from './console-schema.ts'
import type { Reading, Tx } from './tx.ts'

/** Makes a link, the only one of its kind: an older one for the same user opens nothing any more. */
export function addLink(tx: Tx, link: LinkRow): void {
  const { userId } = link
  const same = tx.build.deleteFrom('links')
  tx.run(userId === null ? same.where('userId', 'is', null) : same.where('userId', '=', userId))
  tx.run(tx.build.insertInto('links').values(link))
}

/** A link that is not over yet. */
export function findLink(
  reading: Reading,
  tokenHash: Uint8Array,
  nowMs: number,
): LinkRow | undefined {
  const query = reading.build.selectFrom('links').selectAll().where('tokenHash', '=', tokenHash)
  return reading.run(query.where('expiresAtMs', '>', nowMs))[0]
}

/** Ends a link: each opens once. */
export function endLink(tx: Tx, tokenHash: Uint8Array): void {
  tx.run(tx.build.deleteFrom('links').where('tokenHash', '=', tokenHash))
}
