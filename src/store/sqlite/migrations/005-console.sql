-- Users of the console, their sessions, one-time links and second factors; and the permanent records:
-- the deletions of subjects, and the audit log. Only hashes of the tokens of sessions and links are
-- stored: a reader of the database can use neither.

create table users (
  userId text primary key, accountId text not null references accounts,
  name text not null, nameKey text not null unique,
  role text not null check (role in ('owner', 'admin', 'viewer')), password text,
  createdAtUtc text not null, lastSeenAtUtc text, disabledAtUtc text
) strict, without rowid

create table sessions (
  tokenHash blob not null check (length(tokenHash) = 32) primary key, userId text not null references users,
  createdAtMs integer not null, lastSeenAtMs integer not null,
  ip text not null, userAgent text not null
) strict, without rowid

create index sessions_of_user on sessions (userId)

create table links (
  tokenHash blob not null check (length(tokenHash) = 32) primary key,
  userId text references users, creatorId text references users, expiresAtMs integer not null
) strict, without rowid

create table secondFactors (
  userId text primary key references users, masterKeyId text not null, wrapped blob not null,
  isConfirmed integer not null default 0 check (isConfirmed in (0, 1)), lastStep integer not null default 0 check (lastStep >= 0)
) strict, without rowid

create table recoveryCodes (
  userId text not null references users, codeHash blob not null check (length(codeHash) = 32),
  primary key (userId, codeHash)
) strict, without rowid

-- Permanent records outlive all other rows, so they have no foreign keys. Each account has a hash
-- chain of both kinds. Its head is stored, so that rows missing at the end are found.
create table chainHeads (
  chain text not null check (chain in ('deletions', 'auditLog')), accountId text not null,
  headSeq integer not null, headHash blob not null check (length(headHash) = 32),
  primary key (chain, accountId)
) strict, without rowid

create table deletions (
  seq integer primary key, deletionId text not null unique,
  galleryId text not null, accountId text not null, subjectId text not null,
  mergedInto text, formerIds text not null,
  groups text not null, externalId text,
  embeddingCount integer not null check (embeddingCount >= 0), deletedAtUtc text not null,
  rowHash blob not null check (length(rowHash) = 32)
) strict

-- A merged subject exists again in an older copy of the database, and can be deleted there.
create unique index one_deletion_per_subject on deletions (subjectId) where mergedInto is null

create index deletions_of_subject on deletions (subjectId)

create index deletions_by_time on deletions (galleryId, deletedAtUtc, seq)

create index deletions_by_external_id on deletions (galleryId, externalId, deletedAtUtc, seq)

create index deletions_of_account on deletions (accountId, seq)

create index deletions_of_account_by_time on deletions (accountId, deletedAtUtc, seq)

create index deletions_of_account_by_external_id
  on deletions (accountId, externalId, deletedAtUtc, seq)

create trigger deletions_no_update before update on deletions
  begin select raise(abort, 'deletions is append-only'); end

create trigger deletions_no_delete before delete on deletions
  begin select raise(abort, 'deletions is append-only'); end

create trigger deletions_head after insert on deletions begin
  insert into chainHeads values ('deletions', new.accountId, 1, new.rowHash)
    on conflict (chain, accountId)
    do update set headSeq = headSeq + 1, headHash = excluded.headHash;
end

create table auditLog (
  auditId integer primary key, accountId text not null, atMs integer not null,
  userId text, userName text not null,
  auditAction text not null, target text not null, detail text not null, ip text not null,
  rowHash blob not null check (length(rowHash) = 32)
) strict

-- Contains the action: SQLite prefers smaller indexes, even to those of a user and of an action.
create index audit_log_by_time on auditLog (accountId, atMs, auditId, auditAction)

create index audit_log_by_user on auditLog (accountId, userId, atMs)

create index audit_log_by_action on auditLog (accountId, auditAction, atMs)

create trigger auditLog_no_update before update on auditLog
  begin select raise(abort, 'auditLog is append-only'); end

create trigger auditLog_no_delete before delete on auditLog
  begin select raise(abort, 'auditLog is append-only'); end

create trigger auditLog_head after insert on auditLog begin
  insert into chainHeads values ('auditLog', new.accountId, 1, new.rowHash)
    on conflict (chain, accountId)
    do update set headSeq = headSeq + 1, headHash = excluded.headHash;
end
