import type { Selectable } from 'kysely'
import type { Database, LedgerRow } from '../schema.ts'

export type Balance = Pick<Selectable<LedgerRow>, 'ledger' | 'balanceMicros' | 'reservedMicros'>

/** Returns the balance of a wallet or a budget. @throws Error if there is no such ledger. */
export function findBalance(db: Database, ledger: string): Promise<Balance> {
  const balances = db.selectFrom('ledgers').select(['ledger', 'balanceMicros', 'reservedMicros'])
  return balances.where('ledger', '=', ledger).executeTakeFirstOrThrow()
}
