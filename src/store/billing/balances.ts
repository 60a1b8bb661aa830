import type { Database } from '../schema.ts'

export type Balance = {
  readonly ledger: string
  readonly balanceMicros: bigint
  /** The part of the balance that running calls have reserved. */
  readonly reservedMicros: bigint
}

/** Returns the balance of a wallet or a budget. @throws Error if there is no such ledger. */
export function findBalance(db: Database, ledger: string): Promise<Balance> {
  return db
    .selectFrom('ledgers')
    .select(['ledger', 'balanceMicros', 'reservedMicros'])
    .where('ledger', '=', ledger)
    .executeTakeFirstOrThrow()
}

/** Returns the balances of all wallets and budgets of an account. */
export function findAccountBalances(db: Database, accountId: string): Promise<Balance[]> {
  return db
    .selectFrom('ledgers')
    .select(['ledger', 'balanceMicros', 'reservedMicros'])
    .where('accountId', '=', accountId)
    .orderBy('ledger')
    .execute()
}
