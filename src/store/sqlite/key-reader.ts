import type { DatabaseSync } from 'node:sqlite'
import type { KeyLookupRow } from '../tenancy/keys.ts'
import { switchNames } from '../tenancy/switches.ts'
import { prepare } from './connection.ts'

/**
 * Returns a function that reads what is committed about a key.
 *
 * @param connection that of the writer. Its page cache is current, so that a lookup reads no file.
 * @param separate for lookups during a transaction, which must not read its changes.
 */
export function createKeyReader(connection: DatabaseSync, separate: DatabaseSync) {
  const [current, committed] = [connection, separate].map(prepareSelectKey)
  return async (hash: Uint8Array): Promise<KeyLookupRow | undefined> =>
    (connection.isTransaction ? committed : current)?.first({ hash })
}

/**
 * All that a caller depends on, of a key and its project, as one text: the identity of a caller is
 * current if its version is. The columns that record the last use are not part of it.
 */
export const keyVersionSql = `json_array(permissions, projects.accountId, galleryMode,
  ${switchNames.join(', ')}, matchWebhooks, isFrozen, expiresAtUtc, revokedAtUtc, hex(hash),
  hex(formerHash), formerEndsAtUtc)`

function prepareSelectKey(connection: DatabaseSync) {
  return prepare<KeyLookupRow>(
    connection,
    `select keyId, keys.projectId, accountId, permissions,
       case galleryMode when 'shared' then accountId else keys.projectId end as galleryId,
       ${switchNames.join(', ')}, matchWebhooks, isFrozen, expiresAtUtc,
       revokedAtUtc, ${keyVersionSql} as version,
       hash <> :hash as isFormer, formerEndsAtUtc, formerLastUsedAtUtc
     from keys join projects using (projectId) where hash = :hash or formerHash = :hash`,
  )
}
