import type { Selectable } from 'kysely'
import type { Database, LedgerRow } from '../schema.ts'

export type Balance = Pick<Selectable<LedgerRow>, 'ledger' | 'balanceMicros' | 'reservedMicros'>

/** Returns the balance of a wallet or a budget. @throws Error if there is no such ledger. */
export function findBalance(db: Database, ledger: string): Promise<Balance> {
  return selectBalances(db).where('ledger', '=', ledger).executeTakeFirstOrThrow()
}

/** Returns the balances of all wallets and budgets of an account. */
export function findAccountBalances(db: Database, accountId: string): Promise<Balance[]> {
  return selectBalances(db).where('accountId', '=', accountId).orderBy('ledger').execute()
}

function selectBalances(db: Database) {
  return db.selectFrom('ledgers').select(['ledger', 'balanceMicros', 'reservedMicros'])
}
