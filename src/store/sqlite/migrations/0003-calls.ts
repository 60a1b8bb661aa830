import { sql, type Kysely, type Migration } from 'kysely'

/** The state of the gate: rate limits, attempts and their responses, the request log. */
export const calls: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...limits, ...attempts, ...log]) await sql.raw(statement).execute(db)
}

/** A null limit means the server's setting. */
const limits = [
  'alter table projects add column sustainedPerS integer check (sustainedPerS between 1 and 10000)',
  'alter table projects add column burst integer check (burst between 1 and 100000)',
  `create table buckets (
    projectId text primary key references projects (projectId),
    fullAtUs integer not null
  ) strict, without rowid`,
]

/** `answer` is encrypted with a key derived from the request, so the database cannot decrypt it. */
const attempts = [
  `create table attempts (
    projectId text not null,
    requestId text not null,
    keyId text not null,
    action text not null,
    fingerprint blob not null check (length(fingerprint) = 32),
    state text not null check (state in ('running', 'done')),
    token text not null,
    reservedMicros integer not null check (reservedMicros >= 0),
    deadlineMs integer not null,
    windowStartMs integer not null,
    code text,
    answer blob,
    primary key (projectId, requestId),
    check ((state = 'done') = (answer is not null)),
    check (state = 'running' or reservedMicros = 0)
  ) strict`,
  `create index attempts_running on attempts (deadlineMs) where state = 'running'`,
  'create index attempts_by_age on attempts (windowStartMs)',
]

/**
 * There are no foreign keys to projects and keys, because the log outlives them. Each filter of the
 * log has an index in the log's order. Only failures have an index by code: rows with `OK` are found
 * quickly without one. `marks` contains the time up to which old rows were swept.
 */
const log = [
  `create table calls (
    callId integer primary key,
    atMs integer not null,
    keyId text not null,
    projectId text not null,
    requestId text not null,
    action text not null check (length(action) <= 128),
    code text not null,
    latencyMs real not null,
    costMicros integer not null check (costMicros >= 0),
    isReplay integer not null check (isReplay in (0, 1)),
    transferId integer references ledgerTransfers (transferId),
    check ((transferId is null) = (costMicros = 0))
  ) strict`,
  'create index calls_by_time on calls (atMs)',
  'create index calls_by_project on calls (projectId, atMs)',
  'create index calls_by_key on calls (keyId, atMs)',
  'create index calls_by_action on calls (action, atMs)',
  `create index calls_failed on calls (code, atMs) where code <> 'OK'`,
  'create unique index one_call_per_charge on calls (transferId) where transferId is not null',
  'create table marks (name text primary key, valueMs integer not null) strict, without rowid',
]
