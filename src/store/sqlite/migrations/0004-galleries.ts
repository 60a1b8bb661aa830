import { sql, type Kysely, type Migration } from 'kysely'

/**
 * Subjects, their templates and groups, and their deletion records.
 *
 * Foreign keys delete everything of a subject together with its row. Templates have the number of
 * the gallery's change, so that a copy in memory reads only newer ones.
 */
export const galleries: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...keys, ...subjects, ...templates, ...deletions, ...answers])
    await sql.raw(statement).execute(db)
}

const keys = [
  'alter table projects add column retentionDays integer check (retentionDays between 1 and 36500)',
  `create table galleries (
    galleryId text primary key,
    accountId text not null references accounts (accountId),
    sequence integer not null default 0,
    subjectCount integer not null default 0 check (subjectCount >= 0),
    templateCount integer not null default 0 check (templateCount >= 0)
  ) strict, without rowid`,
  `create table galleryKeys (
    keyId text primary key,
    galleryId text not null references galleries (galleryId),
    masterKeyId text not null,
    wrapped blob not null,
    createdAtMs integer not null
  ) strict, without rowid`,
  'create index keys_of_gallery on galleryKeys (galleryId, createdAtMs)',
]

const subjects = [
  `create table subjects (
    subjectId text primary key,
    galleryId text not null references galleries (galleryId),
    projectId text not null references projects (projectId),
    externalId text,
    displayName text,
    attributes text not null,
    keyId text not null references galleryKeys (keyId),
    wrappedKey blob not null,
    createdAtUtc text not null,
    updatedAtUtc text not null,
    expiresAtUtc text,
    lastSeenAtUtc text not null
  ) strict`,
  `create unique index one_subject_per_external_id
    on subjects (galleryId, externalId) where externalId is not null`,
  'create index subjects_by_creation on subjects (galleryId, createdAtUtc, subjectId)',
  'create index subjects_by_key on subjects (keyId)',
  'create index subjects_expiring on subjects (expiresAtUtc) where expiresAtUtc is not null',
  'create index subjects_unseen on subjects (projectId, lastSeenAtUtc)',
  `create table subjectGroups (
    galleryId text not null,
    name text not null,
    subjectId text not null references subjects (subjectId) on delete cascade,
    primary key (galleryId, name, subjectId)
  ) strict, without rowid`,
  'create index groups_of_subject on subjectGroups (subjectId)',
]

const templates = [
  `create table templates (
    faceId text primary key,
    subjectId text not null references subjects (subjectId) on delete cascade,
    galleryId text not null,
    sequence integer not null,
    modelId text not null,
    sealed blob not null,
    qualityScore integer not null,
    createdAtUtc text not null
  ) strict`,
  'create index templates_of_subject on templates (subjectId)',
  'create index templates_by_change on templates (galleryId, sequence, faceId)',
  `create table removals (
    galleryId text not null,
    sequence integer not null,
    faceId text not null,
    primary key (galleryId, sequence, faceId)
  ) strict, without rowid`,
]

/** A deletion record outlives all other rows, so it has no foreign keys. */
const deletions = [
  `create table deletions (
    seq integer primary key,
    deletionId text not null unique,
    galleryId text not null,
    tenantId text not null,
    subjectId text not null unique,
    groups text not null,
    externalId text,
    embeddingCount integer not null check (embeddingCount >= 0),
    deletedAtUtc text not null,
    rowHash blob not null check (length(rowHash) = 32)
  ) strict`,
  'create index deletions_of_gallery on deletions (galleryId, seq)',
  'create index deletions_of_tenant on deletions (tenantId, seq)',
  ...['update', 'delete'].map(
    (change) => `
      create trigger deletions_no_${change} before ${change} on deletions
      begin select raise(abort, 'deletion records are for ever'); end`,
  ),
]

/** The subjects in stored responses, and the responses' replacements after a deletion. */
const answers = [
  'alter table attempts add column scrubbed blob',
  `create table answerSubjects (
    subjectId text not null,
    projectId text not null,
    requestId text not null,
    primary key (subjectId, projectId, requestId),
    foreign key (projectId, requestId) references attempts on delete cascade
  ) strict, without rowid`,
  'create index subjects_of_answer on answerSubjects (projectId, requestId)',
]
