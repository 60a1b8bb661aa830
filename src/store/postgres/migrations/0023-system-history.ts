import { sql, type Kysely, type Migration } from 'kysely'
import { roomy, text } from './columns.ts'

/** The last report of each server, and its samples of the last 24 hours. They have no account. */
export const systemHistory: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table "systemServers" (
    server ${text} primary key,
    pid integer not null,
    version ${text} not null,
    "startedAtMs" bigint not null,
    "reportedAtMs" bigint not null,
    "stoppedAtMs" bigint,
    starts integer not null default 1,
    report ${text} not null
  ) ${roomy}`,
  `create table "systemSamples" (
    server ${text} not null,
    "atMs" bigint not null,
    "rssBytes" bigint not null,
    "heapBytes" bigint not null,
    "workerBytes" bigint not null,
    "workersUp" integer not null,
    "queuedMax" integer not null,
    calls integer not null,
    "p50Ms" double precision,
    "p95Ms" double precision,
    primary key (server, "atMs")
  )`,
]
