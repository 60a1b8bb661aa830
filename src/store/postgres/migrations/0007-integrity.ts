import { sql, type Kysely, type Migration } from 'kysely'
import { flag, hash, roomy, text } from './columns.ts'

/**
 * Stores the head of each account's chain of deletion records and audit rows, so that rows missing at
 * the end are found, and marks subjects that were created without a face.
 */
export const integrity: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    ...heads,
    ...storeHeads('deletions', { account: 'tenantId', order: 'seq' }),
    ...storeHeads('adminActs', { account: 'accountId', order: 'auditId' }),
    ...subjectsWithoutFaces,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const account = `(select current_setting('facegate.account', true))`

/**
 * A head outlives all other rows, so it has no foreign keys. A trigger stores it, so that it is also
 * correct for the rows of older servers. Writers of a chain hold its lock and update its head one
 * after another.
 */
const heads = [
  `create table "chainHeads" (
    chain ${text} not null check (chain in ('deletions', 'adminActs')),
    "accountId" ${text} not null,
    "headSeq" bigint not null,
    ${hash('headHash')},
    primary key (chain, "accountId")
  ) ${roomy}`,
  'alter table "chainHeads" enable row level security',
  'alter table "chainHeads" force row level security',
  `create policy "chainHeads_of_account" on "chainHeads"
    using (${account} = '*' or "accountId" = ${account})`,
  `create function "storeChainHead"() returns trigger language plpgsql as $$
    begin
      insert into "chainHeads" as head
        values (tg_table_name, to_jsonb(new) ->> tg_argv[0], 1, new."rowHash")
        on conflict (chain, "accountId")
        do update set "headSeq" = head."headSeq" + 1, "headHash" = excluded."headHash";
      return null;
    end $$`,
]

/** Creating the trigger locks the table, so that no row is added before the heads are stored. */
function storeHeads(
  table: string,
  columns: Readonly<Record<'account' | 'order', string>>,
): string[] {
  const owner = `"${columns.account}"`
  return [
    `create trigger "${table}_head" after insert on "${table}"
      for each row execute function "storeChainHead"('${columns.account}')`,
    `insert into "chainHeads"
      select '${table}', ${owner}, count(*), (
        select "rowHash" from "${table}" as last where last.${owner} = chained.${owner}
        order by "${columns.order}" desc limit 1)
      from "${table}" as chained group by ${owner}`,
  ]
}

/**
 * Until now nothing showed whether a subject was created without a face, so none is reported. Rows of
 * older servers get the default 1: such a server does not mark them.
 */
const subjectsWithoutFaces = [
  `alter table subjects add column ${flag('withoutFaces', 0)}`,
  `update subjects set "withoutFaces" = 1
    where not exists (select from faces where faces."subjectId" = subjects."subjectId")`,
  'alter table subjects alter column "withoutFaces" set default 1',
]
