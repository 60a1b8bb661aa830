import { sql, type Kysely, type Migration } from 'kysely'

/** Users of the console, their sessions, one-time links, and the audit log. */
export const consoleUsers: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...users, ...audit, hiddenKeys]) await sql.raw(statement).execute(db)
}

/** Only hashes of session and link tokens are stored: a reader of the database can use neither. */
const users = [
  `create table users (
    userId text primary key,
    accountId text not null references accounts (accountId),
    name text not null,
    nameKey text not null unique,
    role text not null check (role in ('owner', 'admin', 'viewer')),
    password text,
    createdAtUtc text not null,
    lastSeenAtUtc text,
    disabledAtUtc text
  ) strict, without rowid`,
  `create table sessions (
    tokenHash blob primary key check (length(tokenHash) = 32),
    userId text not null references users (userId),
    createdAtMs integer not null,
    lastSeenAtMs integer not null
  ) strict, without rowid`,
  'create index sessions_of_user on sessions (userId)',
  `create table links (
    tokenHash blob primary key check (length(tokenHash) = 32),
    userId text references users (userId),
    expiresAtMs integer not null
  ) strict, without rowid`,
]

/** An entry outlives all other rows, so it has no foreign keys. */
const audit = [
  `create table adminActs (
    auditId integer primary key,
    accountId text not null,
    atMs integer not null,
    userId text,
    userName text not null,
    act text not null,
    target text not null,
    detail text not null,
    ip text not null,
    rowHash blob not null check (length(rowHash) = 32)
  ) strict`,
  'create index acts_by_time on adminActs (accountId, atMs)',
  'create index acts_by_user on adminActs (userId, atMs)',
  'create index acts_by_act on adminActs (act, atMs)',
  ...['update', 'delete'].map(
    (change) => `
      create trigger adminActs_no_${change} before ${change} on adminActs
      begin select raise(abort, 'the audit is append-only'); end`,
  ),
]

/** The console's playground uses a hidden key of the project. */
const hiddenKeys = `alter table keys add column isHidden integer not null default 0
  check (isHidden in (0, 1))`
