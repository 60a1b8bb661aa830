import { sql, type Kysely, type Migration } from 'kysely'
import { flag, hash, text } from './columns.ts'

/** The second factor and the recovery codes of users, and where their sessions were started. */
export const secondFactors: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  const guards = ['secondFactors', 'recoveryCodes'].flatMap(guard)
  for (const statement of [...statements, ...guards]) await sql.raw(statement).execute(db)
}

const statements = [
  `create table "secondFactors" (
    "userId" ${text} primary key references users ("userId"),
    "masterKeyId" ${text} not null,
    wrapped bytea not null,
    ${flag('isConfirmed', 0)},
    "lastStep" bigint not null default 0 check ("lastStep" >= 0)
  )`,
  `create table "recoveryCodes" (
    "userId" ${text} not null references users ("userId"),
    ${hash('codeHash')},
    primary key ("userId", "codeHash")
  )`,
  `alter table sessions add column ip ${text} not null default ''`,
  `alter table sessions add column "userAgent" ${text} not null default ''`,
]

/** Row-level security, as for the sessions of users. */
function guard(table: string): string[] {
  const account = `(select current_setting('facegate.account', true))`
  const own = `"userId" = any (array(select "userId" from users where "accountId" = ${account}))`
  return [
    `alter table "${table}" enable row level security`,
    `alter table "${table}" force row level security`,
    `create policy "${table}_of_account" on "${table}" using (${account} = '*' or ${own})`,
  ]
}
