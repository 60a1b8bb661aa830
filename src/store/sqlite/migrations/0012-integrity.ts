import { sql, type Kysely, type Migration } from 'kysely'

/**
 * Stores the head of each account's chain of deletion records and audit rows, so that rows missing at
 * the end are found, and marks subjects that were created without a face.
 */
export const integrity: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    heads,
    ...storeHeads('deletions', { account: 'tenantId', order: 'seq' }),
    ...storeHeads('adminActs', { account: 'accountId', order: 'auditId' }),
    ...subjectsWithoutFaces,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** A head outlives all other rows, so it has no foreign keys. */
const heads = `create table chainHeads (
  chain text not null check (chain in ('deletions', 'adminActs')),
  accountId text not null,
  headSeq integer not null,
  headHash blob not null check (length(headHash) = 32),
  primary key (chain, accountId)
) strict, without rowid`

function storeHeads(
  table: string,
  { account, order }: Readonly<Record<'account' | 'order', string>>,
): string[] {
  return [
    `insert into chainHeads
      select '${table}', ${account}, count(*), (
        select rowHash from ${table} as last where last.${account} = chained.${account}
        order by ${order} desc limit 1)
      from ${table} as chained group by ${account}`,
    `create trigger ${table}_head after insert on ${table}
      begin
        insert into chainHeads values ('${table}', new.${account}, 1, new.rowHash)
          on conflict (chain, accountId)
          do update set headSeq = headSeq + 1, headHash = excluded.headHash;
      end`,
  ]
}

/** Until now nothing showed whether a subject was created without a face, so none is reported. */
const subjectsWithoutFaces = [
  `alter table subjects add column withoutFaces integer not null default 0
    check (withoutFaces in (0, 1))`,
  `update subjects set withoutFaces = 1
    where not exists (select 1 from faces where faces.subjectId = subjects.subjectId)`,
]
