import { sql, type Kysely, type Migration } from 'kysely'
import type { Schema } from '../../schema.ts'

/**
 * Hourly counts of calls and scores, so that a chart of millions of calls reads thousands of rows,
 * and the indexes for filters that only the console uses.
 */
export const hours: Migration = { up }

async function up(db: Kysely<Schema>): Promise<void> {
  for (const statement of [...tables, ...indexes]) await sql.raw(statement).execute(db)
}

/** `latencies` is a histogram, see `lib/observability/latency-histogram.ts`. */
const tables = [
  `create table callHours (
    hourMs integer not null,
    projectId text not null,
    keyId text not null,
    action text not null,
    code text not null,
    calls integer not null,
    billed integer not null,
    costMicros integer not null,
    latencies blob not null,
    primary key (hourMs, projectId, keyId, action, code)
  ) strict, without rowid`,
  `create table scoreHours (
    projectId text not null,
    kind text not null check (kind in ('similarity', 'liveness')),
    hourMs integer not null,
    bin integer not null check (bin between 0 and 49),
    count integer not null,
    matched integer not null,
    primary key (projectId, kind, hourMs, bin)
  ) strict, without rowid`,
]

const indexes = [
  'create index calls_by_request on calls (requestId)',
  'create index transfers_by_time on ledgerTransfers (atMs)',
  'create index transfers_by_project on ledgerTransfers (projectId, atMs)',
  `create index transfers_of_money on ledgerTransfers (kind, atMs) where kind <> 'charge'`,
  'create index deletions_by_external_id on deletions (galleryId, externalId, seq)',
  'create index deletions_by_time on deletions (galleryId, deletedAtUtc)',
]
