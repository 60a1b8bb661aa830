import { sql, type Kysely, type Migration } from 'kysely'

/** Triggers that prevent changes of permanent rows, and policies that separate accounts. */
export const guards: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...frozen, ...owned.flatMap(guard)]) await sql.raw(statement).execute(db)
}

const frozen = [
  `create function "refuseChange"() returns trigger language plpgsql as $$
    begin
      raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
    end $$`,
  ...['ledgerTransfers', 'deletions', 'adminActs'].flatMap((table) => [
    ...['update', 'delete'].map(
      (change) => `create trigger "${table}_no_${change}" before ${change} on "${table}"
        for each row execute function "refuseChange"()`,
    ),
    `create trigger "${table}_no_truncate" before truncate on "${table}"
      for each statement execute function "refuseChange"()`,
  ]),
]

/** The account scope of a transaction; `*` means all accounts. Without a scope no row is visible. */
const account = `(select current_setting('facegate.account', true))`

type Owned = { readonly tables: readonly string[]; readonly belongs: string }

/**
 * Row-level security, in addition to the account conditions of the queries: a transaction reads and
 * writes only rows of the account in its scope. It applies to the owner of the tables, too, but not
 * to superusers.
 */
const owned: readonly Owned[] = [
  {
    tables: ['accounts', 'projects', 'prices', 'ledgers', 'galleries', 'users', 'adminActs'],
    belongs: `"accountId" = ${account}`,
  },
  { tables: ['deletions'], belongs: `"tenantId" = ${account}` },
  {
    tables: 'keys buckets attempts answerSubjects calls callHours scoreHours crops'.split(' '),
    belongs: `"projectId" = any (array(
      select "projectId" from projects where "accountId" = ${account}))`,
  },
  {
    tables: ['galleryKeys', 'subjects', 'subjectGroups', 'faces', 'templates', 'removals'],
    belongs: `"galleryId" = any (array(
      select "galleryId" from galleries where "accountId" = ${account}))`,
  },
  {
    tables: ['ledgerTransfers'],
    belongs: `chain = any (array(select ledger from ledgers where "accountId" = ${account}))`,
  },
  {
    tables: ['sessions', 'links'],
    belongs: `"userId" = any (array(select "userId" from users where "accountId" = ${account}))`,
  },
]

function guard({ tables, belongs }: Owned): string[] {
  return tables.flatMap((table) => [
    `alter table "${table}" enable row level security`,
    `alter table "${table}" force row level security`,
    `create policy "${table}_of_account" on "${table}" using (${account} = '*' or ${belongs})`,
  ])
}
