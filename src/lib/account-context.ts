import { AsyncLocalStorage } from 'node:async_hooks'

const accountContext = new AsyncLocalStorage<string>()

/** All accounts: housekeeping, and the question whose key it is. */
const allAccounts = '*'

/**
 * Does work for one account: until it ends, the transactions that it begins see and take rows of this
 * account only, where the database can hold them to it (PostgreSQL's row-level security).
 */
export function runAsAccount<T>(accountId: string, work: () => T): T {
  return accountContext.run(accountId, work)
}

/** Whose work this is; `*` for that of nobody in particular. */
export function currentAccountId(): string {
  return accountContext.getStore() ?? allAccounts
}
