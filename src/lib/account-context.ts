import { AsyncLocalStorage } from 'node:async_hooks'

const accountContext = new AsyncLocalStorage<string>()

/** All accounts: used by maintenance work and by the lookup of an API key. */
const allAccounts = '*'

/**
 * Runs work for one account. Until the work ends, its transactions can read and write rows of this
 * account only, if the database can enforce it (row-level security of PostgreSQL).
 */
export function runAsAccount<T>(accountId: string, work: () => T): T {
  return accountContext.run(accountId, work)
}

/** Returns the account of the current work; `*` for work without an account. */
export function currentAccountId(): string {
  return accountContext.getStore() ?? allAccounts
}
