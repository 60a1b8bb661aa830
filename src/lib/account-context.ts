import { AsyncLocalStorage } from 'node:async_hooks'

const accountScope = new AsyncLocalStorage<string>()

/** The scope of all accounts, as the row policies of the database compare it. */
const allAccounts = '*'

/**
 * Runs work for one account. Transactions that begin during the work read and write only rows of this
 * account, if the database supports that (PostgreSQL's row-level security).
 */
export function runAsAccount<T>(accountId: string, work: () => T): T {
  return accountScope.run(accountId, work)
}

/**
 * Runs work for all accounts: housekeeping, authentication and commands of the operator. Calls of an
 * account must not run in it.
 */
export function runAsAllAccounts<T>(work: () => T): T {
  return accountScope.run(allAccounts, work)
}

/** Returns the account of the current work; undefined for all accounts. */
export function findScopedAccount(): string | undefined {
  const scope = accountScope.getStore()
  return scope === allAccounts ? undefined : scope
}

/**
 * Returns the scope of the current work: the id of an account, or `*` for all accounts.
 *
 * @throws Error if no scope is set.
 */
export function requireAccountScope(): string {
  const scope = accountScope.getStore()
  if (scope === undefined)
    throw new Error(
      'a database transaction needs an account scope; run it in runAsAccount or runAsAllAccounts',
    )
  return scope
}

/**
 * Runs the work for each item sequentially: a transaction runs one statement at a time. `Array.fromAsync`
 * does not replace it: on Node 22 it loses the asynchronous context, and so the account scope and the
 * trace of the call.
 *
 * @param msMax the time after which the work for no further item begins. By default it has no limit.
 */
export async function mapSequential<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result> | Result,
  msMax = Infinity,
): Promise<Result[]> {
  const results: Result[] = []
  const endMs = performance.now() + msMax
  for (const item of items) {
    results.push(await work(item))
    if (performance.now() > endMs) break
  }
  return results
}
