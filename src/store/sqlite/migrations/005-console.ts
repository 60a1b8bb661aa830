import { appendOnly } from './append-only.ts'
import { flag, hash } from './columns.ts'

/**
 * Users of the console, their sessions, one-time links and second factors; and the permanent records:
 * the deletions of subjects, and the audit log. Only hashes of the tokens of sessions and links are
 * stored: a reader of the database can use neither.
 */
export const statements: readonly string[] = [
  `create table users (
    userId text primary key, accountId text not null references accounts,
    name text not null, nameKey text not null unique,
    role text not null check (role in ('owner', 'admin', 'viewer')), password text,
    createdAtUtc text not null, lastSeenAtUtc text, disabledAtUtc text
  ) strict, without rowid`,
  `create table sessions (
    ${hash('tokenHash')} primary key, userId text not null references users,
    createdAtMs integer not null, lastSeenAtMs integer not null,
    ip text not null, userAgent text not null
  ) strict, without rowid`,
  'create index sessions_of_user on sessions (userId)',
  `create table links (
    ${hash('tokenHash')} primary key,
    userId text references users, expiresAtMs integer not null
  ) strict, without rowid`,
  `create table secondFactors (
    userId text primary key references users, masterKeyId text not null, wrapped blob not null,
    ${flag('isConfirmed', 0)}, lastStep integer not null default 0 check (lastStep >= 0)
  ) strict, without rowid`,
  `create table recoveryCodes (
    userId text not null references users, ${hash('codeHash')},
    primary key (userId, codeHash)
  ) strict, without rowid`,

  // Permanent records outlive all other rows, so they have no foreign keys. Each account has a hash
  // chain of both kinds. Its head is stored, so that rows missing at the end are found.
  `create table chainHeads (
    chain text not null check (chain in ('deletions', 'auditLog')), accountId text not null,
    headSeq integer not null, ${hash('headHash')},
    primary key (chain, accountId)
  ) strict, without rowid`,
  `create table deletions (
    seq integer primary key, deletionId text not null unique,
    galleryId text not null, accountId text not null, subjectId text not null unique,
    groups text not null, externalId text,
    embeddingCount integer not null check (embeddingCount >= 0), deletedAtUtc text not null,
    ${hash('rowHash')}
  ) strict`,
  'create index deletions_of_gallery on deletions (galleryId, seq)',
  'create index deletions_by_external_id on deletions (galleryId, externalId, seq)',
  'create index deletions_by_time on deletions (galleryId, deletedAtUtc)',
  'create index deletions_of_account on deletions (accountId, seq)',
  'create index deletions_of_account_by_external_id on deletions (accountId, externalId, seq)',
  'create index deletions_of_account_by_time on deletions (accountId, deletedAtUtc)',
  ...appendOnly('deletions'),
  storeHead('deletions'),
  `create table auditLog (
    auditId integer primary key, accountId text not null, atMs integer not null,
    userId text, userName text not null,
    auditAction text not null, target text not null, detail text not null, ip text not null,
    ${hash('rowHash')}
  ) strict`,
  'create index audit_log_by_time on auditLog (accountId, atMs)',
  'create index audit_log_by_user on auditLog (userId, atMs)',
  'create index audit_log_by_action on auditLog (auditAction, atMs)',
  ...appendOnly('auditLog'),
  storeHead('auditLog'),
]

function storeHead(table: string): string {
  return `create trigger ${table}_head after insert on ${table} begin
    insert into chainHeads values ('${table}', new.accountId, 1, new.rowHash)
      on conflict (chain, accountId)
      do update set headSeq = headSeq + 1, headHash = excluded.headHash;
  end`
}
