import type { Micros } from '../../lib/money.ts'
import type { Database } from '../database.ts'

/** What one price unit of an action costs an account that does not pay the general price. */
export type AccountPrice = { readonly action: string; readonly unitMicros: Micros }

export function listPrices(db: Database, accountId: string): Promise<AccountPrice[]> {
  return db
    .selectFrom('prices')
    .select(['action', 'unitMicros'])
    .where('accountId', '=', accountId)
    .orderBy('action')
    .execute()
}

/** Holds from the next call on; calls already at work keep the price they were let in at. */
export async function setPrice(
  db: Database,
  accountId: string,
  { action, unitMicros }: AccountPrice,
): Promise<void> {
  await db
    .insertInto('prices')
    .values({ accountId, action, unitMicros })
    .onConflict((conflict) => conflict.columns(['accountId', 'action']).doUpdateSet({ unitMicros }))
    .execute()
}

/** Lets the general price hold again. */
export async function removePrice(db: Database, accountId: string, action: string): Promise<void> {
  const query = db.deleteFrom('prices').where('accountId', '=', accountId)
  await query.where('action', '=', action).execute()
}
