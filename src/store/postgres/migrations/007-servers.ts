import { statements as sqliteStatements } from '../../sqlite/migrations/007-servers.ts'
import { fromSqlite, text, withFreeSpace } from './from-sqlite.ts'
import { ofGallery, secure } from './row-security.ts'

/** Running servers (`nodes`), and their history. Only `appliedRemovals` has data of accounts. */
export const statements: readonly string[] = [
  ...fromSqlite(sqliteStatements),
  `create table nodes (
    "nodeId" ${text} primary key,
    host ${text} not null, pid integer not null, version ${text} not null,
    "startedAtUtc" ${text} not null, "steadyUs" bigint not null, "dbUs" bigint not null,
    "seenAtUtc" ${text} not null, "hasGalleries" boolean not null
  )`,
  ...withFreeSpace('nodes', 'systemServers'),
  // Up to which change each server has applied the removals of a gallery in memory.
  `create table "appliedRemovals" (
    "nodeId" ${text} not null references nodes on delete cascade,
    "galleryId" ${text} not null, sequence bigint not null,
    primary key ("nodeId", "galleryId")
  )`,
  ...secure(ofGallery, 'appliedRemovals'),
]
