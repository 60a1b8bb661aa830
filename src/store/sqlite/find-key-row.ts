import type { DatabaseSync } from 'node:sqlite'
import type { KeyLookupRow } from '../tenancy/keys.ts'
import { switchNames } from '../tenancy/switches.ts'
import { prepare } from './connection.ts'

/** Keys by their hash, as they are at this moment. */
export function createKeyRowFinder(connection: DatabaseSync) {
  const find = prepare<KeyLookupRow>(
    connection,
    `select keyId, keys.projectId, accountId, permissions,
       case galleryMode when 'shared' then accountId else keys.projectId end as galleryId,
       ${switchNames.join(', ')}, expiresAtUtc, revokedAtUtc
     from keys join projects using (projectId) where hash = :hash`,
  )
  return async (hash: Uint8Array): Promise<KeyLookupRow | undefined> => find.first({ hash })
}
