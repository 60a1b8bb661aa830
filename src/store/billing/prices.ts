import type { Micros } from '../../lib/money.ts'
import type { Database } from '../schema.ts'

/** An account's price of one unit of an action, instead of the default. */
export type AccountPrice = { readonly action: string; readonly unitMicros: Micros }

export function listPrices(db: Database, accountId: string): Promise<AccountPrice[]> {
  return db
    .selectFrom('prices')
    .select(['action', 'unitMicros'])
    .where('accountId', '=', accountId)
    .orderBy('action')
    .execute()
}

/** Sets a price for later calls. Running calls keep the price at which they were admitted. */
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

/** Deletes an account's price, so that the default applies again. */
export async function removePrice(db: Database, accountId: string, action: string): Promise<void> {
  const query = db.deleteFrom('prices').where('accountId', '=', accountId)
  await query.where('action', '=', action).execute()
}
