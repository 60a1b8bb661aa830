import { sql, type Kysely, type Migration } from 'kysely'
import { flag, hash, text } from './columns.ts'

/** Challenges to prove liveness, and the tokens of people who did. Rows live for minutes. */
export const livenessChallenges: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  const guards = ['livenessChallenges', 'livenessTokens'].flatMap(guard)
  for (const statement of [...tables, ...guards]) await sql.raw(statement).execute(db)
}

const tables = [
  `create table "livenessChallenges" (
    "challengeId" ${text} primary key,
    "projectId" ${text} not null references projects on delete cascade,
    steps ${text} not null,
    "expiresAtMs" bigint not null,
    "spentAtMs" bigint,
    ${flag('failed', 0)},
    check (failed = 0 or "spentAtMs" is not null)
  )`,
  `create index open_challenges on "livenessChallenges" ("projectId", "expiresAtMs")
    where "spentAtMs" is null`,
  `create index failed_challenges on "livenessChallenges" ("projectId", "spentAtMs")
    where failed = 1`,
  'create index challenges_by_expiry on "livenessChallenges" ("expiresAtMs")',
  `create table "livenessTokens" (
    ${hash('tokenHash')} primary key,
    "projectId" ${text} not null references projects on delete cascade,
    "modelId" ${text} not null,
    sealed bytea not null,
    "expiresAtMs" bigint not null
  )`,
  'create index liveness_tokens_by_expiry on "livenessTokens" ("expiresAtMs")',
]

/** Row-level security, as for the other tables of projects. */
function guard(table: string): string[] {
  const account = `(select current_setting('facegate.account', true))`
  const own = `"projectId" = any (array(select "projectId" from projects where "accountId" = ${account}))`
  return [
    `alter table "${table}" enable row level security`,
    `alter table "${table}" force row level security`,
    `create policy "${table}_of_account" on "${table}" using (${account} = '*' or ${own})`,
  ]
}
