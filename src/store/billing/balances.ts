import type { Database } from '../database.ts'

export type Balance = {
  readonly ledger: string
  readonly balanceMicros: bigint
  /** The part that running calls have set aside. */
  readonly reservedMicros: bigint
}

/** What a wallet or a budget holds. */
export function findBalance(db: Database, ledger: string): Promise<Balance> {
  return db
    .selectFrom('ledgers')
    .select(['ledger', 'balanceMicros', 'reservedMicros'])
    .where('ledger', '=', ledger)
    .executeTakeFirstOrThrow()
}

/** Every wallet and budget of an account. */
export function findAccountBalances(db: Database, accountId: string): Promise<Balance[]> {
  return db
    .selectFrom('ledgers')
    .select(['ledger', 'balanceMicros', 'reservedMicros'])
    .where('accountId', '=', accountId)
    .orderBy('ledger')
    .execute()
}
