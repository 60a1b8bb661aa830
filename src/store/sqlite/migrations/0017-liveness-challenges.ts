import { sql, type Kysely, type Migration } from 'kysely'

/** Challenges to prove liveness, and the tokens of people who did. Rows live for minutes. */
export const livenessChallenges: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table livenessChallenges (
    challengeId text primary key,
    projectId text not null references projects (projectId) on delete cascade,
    steps text not null,
    expiresAtMs integer not null,
    spentAtMs integer,
    failed integer not null default 0 check (failed in (0, 1)),
    check (failed = 0 or spentAtMs is not null)
  ) strict, without rowid`,
  `create index open_challenges on livenessChallenges (projectId, expiresAtMs)
    where spentAtMs is null`,
  'create index failed_challenges on livenessChallenges (projectId, spentAtMs) where failed = 1',
  'create index challenges_by_expiry on livenessChallenges (expiresAtMs)',
  `create table livenessTokens (
    tokenHash blob primary key check (length(tokenHash) = 32),
    projectId text not null references projects (projectId) on delete cascade,
    modelId text not null,
    sealed blob not null,
    expiresAtMs integer not null
  ) strict, without rowid`,
  'create index liveness_tokens_by_expiry on livenessTokens (expiresAtMs)',
]
