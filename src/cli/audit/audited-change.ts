import { userInfo } from 'node:os'
import type { ExclusiveTransaction, Store, Tx } from '../../store/database.ts'
import { addAuditEntry, commandLineName } from '../../store/console/audit-log.ts'
import { findActiveAccountId, requireNoFrozenAccount } from '../account/open-moves.ts'
import { readSettings } from '../read-settings.ts'
import { hasDatabase, withStore } from '../with-store.ts'

/** The content of an entry of the audit log. It never contains a secret. */
export type CommandLineEntry = {
  /** The name of the change, as in `console/server/audit-actions.json`. */
  readonly auditAction: string
  readonly accountId: string
  /** The changed object: an id or a name. */
  readonly target: string
  readonly detail?: object | undefined
}

/** The result of a change, and the content of its entry. */
export type AuditedResult<T> = Omit<CommandLineEntry, 'auditAction'> & { readonly result: T }

/**
 * Makes a change of the command line in one transaction with its entry in the audit log. Every
 * command that changes data uses it, or writes its entry with `createEntryHook`.
 */
export function auditedChange<T>(
  store: Store,
  auditAction: string,
  change: (context: ExclusiveTransaction & { readonly nowMs: number }) => Promise<AuditedResult<T>>,
): Promise<T> {
  const nowMs = commandClock(store)()
  return store.runExclusive(async (transaction) => {
    const { result, ...entry } = await change({ ...transaction, nowMs })
    await addCommandLineEntry(transaction.tx, { ...entry, auditAction }, nowMs)
    return result
  })
}

/** Makes such a change of the database of the environment. */
export function changeDatabase<T>(
  auditAction: string,
  change: Parameters<typeof auditedChange<T>>[2],
): Promise<T> {
  return withStore((store) => auditedChange(store, auditAction, change))
}

/** Adds an entry with the actor "command line" in the transaction of its change. */
export function addCommandLineEntry(
  tx: Tx,
  { accountId, auditAction, target, detail }: CommandLineEntry,
  atMs: number,
): Promise<void> {
  const actor = { userId: null, userName: commandLineName, ip: '' }
  const osUser = operatingSystemUser()
  const text = JSON.stringify({ ...detail, ...(osUser !== undefined && { osUser }) })
  return addAuditEntry(tx, { accountId, atMs, ...actor, auditAction, target, detail: text })
}

/**
 * Changes files of the installation, such as the selection of models. The entry is written before the
 * change and committed after it: if one of them fails, the other one is not made. Before the first
 * start there is no audit log.
 *
 * @param lock is taken first, in exclusive mode.
 */
export async function auditedFileChange<T>(
  entry: Omit<CommandLineEntry, 'accountId'>,
  change: () => T | Promise<T>,
  lock?: string,
): Promise<T> {
  if (!hasDatabase(readSettings())) return change()
  return withStore(async (store) => {
    const addEntry = await createEntryHook(store, entry)
    return store.runExclusive(async ({ tx }) => {
      if (lock !== undefined) await tx.lock(lock, 'exclusive')
      await addEntry(tx)
      return change()
    })
  })
}

/**
 * Returns a function that adds an entry of the oldest account that is not frozen in a transaction of a
 * longer change, such as the first of several batches. It throws if all accounts are frozen.
 */
export async function createEntryHook(store: Store, entry: Omit<CommandLineEntry, 'accountId'>) {
  const accountId = await findActiveAccountId(store)
  return async (tx: Tx) => {
    if (accountId === undefined) return requireNoFrozenAccount(store)
    return addCommandLineEntry(tx, { ...entry, accountId }, commandClock(store)())
  }
}

export function commandClock(store: Store): () => number {
  return store.timeOfDay ?? Date.now
}

/** Containers may run as a user without a name. */
function operatingSystemUser(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}
