import { sql, type Kysely, type Migration } from 'kysely'
import { flag, text } from './columns.ts'

/**
 * Moves of accounts between databases. While a project is frozen, its keys return 503. The function
 * is called by the triggers that `freeze-account.ts` creates for the account of a move.
 */
export const accountMoves: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const account = `(select current_setting('facegate.account', true))`

const statements = [
  `alter table projects add column ${flag('isFrozen', 0)}`,
  // A record outlives the account, so it has no foreign keys.
  `create table "accountMoves" (
    "moveId" ${text} not null,
    direction ${text} not null check (direction in ('in', 'out')),
    "accountId" ${text} not null,
    "otherDatabase" ${text} not null,
    "startedAtUtc" ${text} not null,
    "completedAtUtc" ${text},
    "removedAtUtc" ${text},
    primary key ("moveId", direction)
  )`,
  'create index moves_of_account on "accountMoves" ("accountId")',
  'alter table "accountMoves" enable row level security',
  'alter table "accountMoves" force row level security',
  `create policy "accountMoves_of_account" on "accountMoves"
    using (${account} = '*' or "accountId" = ${account})`,
  // With the argument "skip", the row stays as it is, without an error: housekeeping deletes rows of
  // all accounts in one statement.
  `create function "refuseFrozen"() returns trigger language plpgsql as $$
    begin
      if tg_argv[0] = 'skip' then return null; end if;
      raise exception 'the account of this row is being moved to another database'
        using errcode = 'FG001';
    end $$`,
]
