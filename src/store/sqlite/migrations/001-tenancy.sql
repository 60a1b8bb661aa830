-- Accounts, their projects, and the API keys of projects.

create table accounts (
  accountId text primary key, name text not null, createdAtUtc text not null
) strict

create table projects (
  projectId text primary key, accountId text not null references accounts,
  name text not null, galleryMode text not null, createdAtUtc text not null,
  sustainedPerS integer check (sustainedPerS between 1 and 10000),
  burst integer check (burst between 1 and 100000),
  retentionDays integer check (retentionDays between 1 and 36500),
  identifyThreshold real check (identifyThreshold between 0 and 1),
  gender integer not null default 1 check (gender in (0, 1)), expression integer not null default 1 check (expression in (0, 1)), billing integer not null default 1 check (billing in (0, 1)),
  storeCrops integer not null default 0 check (storeCrops in (0, 1)), autoEnroll integer not null default 0 check (autoEnroll in (0, 1)), isFrozen integer not null default 0 check (isFrozen in (0, 1)),
  feedback integer not null default 0 check (feedback in (0, 1)),
  unknownPeople integer not null default 0 check (unknownPeople in (0, 1)),
  visitorRetentionDays integer not null default 30 check (visitorRetentionDays between 1 and 90),
  nearMissCrops integer not null default 0 check (nearMissCrops in (0, 1)),
  nearMissHours integer not null default 24 check (nearMissHours between 1 and 72),
  matchDays integer not null default 0 check (matchDays in (0, 1)),
  matchWebhooks integer not null default 0, livenessOrigins text not null default '',
  deletedAtUtc text,
  constraint projects_name_in_account unique (accountId, name)
) strict

create table keys (
  keyId text primary key, projectId text not null references projects,
  name text not null, prefix text not null, last4 text not null, hash blob not null unique,
  permissions text not null,
  createdAtUtc text not null, expiresAtUtc text, revokedAtUtc text, lastUsedAtUtc text,
  isHidden integer not null default 0 check (isHidden in (0, 1)), expiryNoticeDays integer,
  rotatedAtUtc text, formerHash blob, formerLast4 text, formerEndsAtUtc text,
  formerLastUsedAtUtc text,
  cameraChangesAtMs integer not null default 0, cameraChanges text
) strict

create index keys_by_project on keys (projectId)

create unique index keys_by_former_hash on keys (formerHash) where formerHash is not null
