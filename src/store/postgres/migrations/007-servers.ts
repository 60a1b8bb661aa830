import { readStatements } from '../../migrations.ts'
import { fromSqlite, withFreeSpace } from './from-sqlite.ts'
import { ofGallery, secure } from './row-security.ts'

/** Running servers (`nodes`), and their history. Only `appliedRemovals` has data of accounts. */
export const statements: readonly string[] = [
  ...fromSqlite('007-servers'),
  ...readStatements(new URL('servers.sql', import.meta.url)),
  ...withFreeSpace('nodes', 'systemServers'),
  ...secure(ofGallery, 'appliedRemovals'),
]
