import { freeSpace, text } from './columns.ts'
import { ofGallery, secure } from './row-security.ts'

/** Running servers (`nodes`), and their history. Only `appliedRemovals` has data of accounts. */
export const statements: readonly string[] = [
  `create table nodes (
    "nodeId" ${text} primary key,
    host ${text} not null, pid integer not null, version ${text} not null,
    "startedAtUtc" ${text} not null, "steadyUs" bigint not null, "dbUs" bigint not null,
    "seenAtUtc" ${text} not null, "hasGalleries" boolean not null
  ) ${freeSpace}`,
  // Up to which change each server has applied the removals of a gallery in memory.
  `create table "appliedRemovals" (
    "nodeId" ${text} not null references nodes on delete cascade,
    "galleryId" ${text} not null, sequence bigint not null,
    primary key ("nodeId", "galleryId")
  )`,
  ...secure(ofGallery, 'appliedRemovals'),
  `create table "systemServers" (
    server ${text} primary key, pid integer not null, version ${text} not null,
    "startedAtMs" bigint not null, "reportedAtMs" bigint not null, "stoppedAtMs" bigint,
    starts integer not null default 1, report ${text} not null
  ) ${freeSpace}`,
  `create table "systemSamples" (
    server ${text} not null, "atMs" bigint not null,
    "rssBytes" bigint not null, "heapBytes" bigint not null, "workerBytes" bigint not null,
    "workersUp" integer not null, "queuedMax" integer not null,
    calls integer not null, "p50Ms" double precision, "p95Ms" double precision,
    primary key (server, "atMs")
  )`,
]
