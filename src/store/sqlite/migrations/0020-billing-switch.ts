import { sql, type Kysely, type Migration } from 'kysely'

/**
 * Whether a project's calls are charged, and the prices of calls that were not. `costMicros` stays the
 * charged amount, so that the request log and the ledger match.
 */
export const billingSwitch: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'alter table projects add column billing integer not null default 1 check (billing in (0, 1))',
  `alter table calls add column meteredMicros integer not null default 0
     check (meteredMicros >= 0 and (meteredMicros = 0 or transferId is null))`,
  'alter table callHours add column meteredMicros integer not null default 0',
]
