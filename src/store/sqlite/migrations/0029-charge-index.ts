import { sql, type Kysely, type Migration } from 'kysely'

/**
 * The index that permits one charge per request starts with the time of the request instead of its
 * random id. New charges are then added at its end: one changed page for many calls instead of one
 * for each call.
 */
export const chargeIndex: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'drop index one_charge_per_request',
  `create unique index one_charge_per_request
    on ledgerTransfers (projectId, windowStartMs, requestId) where kind = 'charge'`,
]
