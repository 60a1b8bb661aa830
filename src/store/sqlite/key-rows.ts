import type { DatabaseSync } from 'node:sqlite'
import type { KeyHit } from '../keys.ts'
import { switchNames } from '../switches.ts'
import { prepare } from './connection.ts'

/** Keys by their hash, as they are at this moment. */
export function keyRows(connection: DatabaseSync) {
  const find = prepare<KeyHit>(
    connection,
    `select keyId, keys.projectId, accountId, permissions,
       case galleryMode when 'shared' then accountId else keys.projectId end as galleryId,
       ${switchNames.join(', ')}, expiresAtUtc, revokedAtUtc
     from keys join projects using (projectId) where hash = :hash`,
  )
  return async (hash: Uint8Array): Promise<KeyHit | undefined> => find.first({ hash })
}
