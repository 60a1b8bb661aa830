import { setTimeout as sleep } from 'node:timers/promises'
import { CompiledQuery } from '../database.ts'
import { isLockTimeout } from '../postgres/connection/fault.ts'
import { type QueryRunner, prepare } from '../postgres/connection/kysely-driver.ts'
import type { Database } from '../schema.ts'
import { accountTables } from '../sqlite-to-postgres/tables.ts'
import type { MigrationTarget } from '../sqlite-to-postgres/target.ts'
import { type AccountIds, ownedBy, readAccountIds } from './copy-account.ts'

/** Returns an interface for the statements of a move in kysely's transaction. */
export function runnerOf(db: Database): QueryRunner {
  return {
    run: async ({ text, values = [] }) => {
      const result = await db.executeQuery<Record<string, unknown>>(
        CompiledQuery.raw(text, [...values]),
      )
      const { rows, numAffectedRows } = result
      return { rows, count: Number(numAffectedRows ?? rows.length), command: '' }
    },
  }
}

/** The tables by which keys and users of the account are authenticated, in the order of deletion. */
const credentialTables = 'links sessions recoveryCodes secondFactors users keys'.split(' ')

/** Tables whose rows triggers protect. They are deleted last, with everything that they refer to. */
const permanentTables = ['auditLog', 'deletions', 'ledgerTransfers']
const balanceTables = ['chainHeads', 'ledgers']
const lastTables = ['prices', 'buckets', 'projects', 'accounts']

const batchRows = 2000
/** Rows that are deleted while other accounts cannot write: about 50 ms. */
const permanentBatchRows = 500

type OnRemoved = (progress: { readonly table: string; readonly rows: number }) => void

/**
 * Deletes the frozen copy of an account that was moved, without the account itself: first the
 * credentials, so that nothing can use the account without the triggers of the freeze, then all
 * other rows in batches. The triggers that protect the permanent rows are disabled in the transactions
 * of their batches only, whose locks exclude all other writers.
 *
 * @returns the number of deleted rows.
 */
export async function removeRows(source: MigrationTarget, accountId: string, onRemoved: OnRemoved) {
  const ids = await source.read((on) => readAccountIds(on, accountId))
  await writeLocked(source, async (on) => {
    await dropTriggers(on, accountId)
    for (const name of credentialTables) await deleteRows(on, name, ids)
  })
  let removed = 0
  const removeInBatches = async (name: string, limit: number, deleteBatch: typeof deleteRows) => {
    let rows = 0
    for (let count = limit; count === limit; rows += count)
      count = await writeLocked(source, (on) => deleteBatch(on, name, ids, limit))
    removed += rows
    if (rows > 0) onRemoved({ table: name, rows })
  }
  for (const name of batchedTables()) await removeInBatches(name, batchRows, deleteRows)
  for (const name of permanentTables)
    await removeInBatches(name, permanentBatchRows, deletePermanent)
  for (const name of balanceTables) removed += await source.write((on) => deleteRows(on, name, ids))
  return removed
}

const deletePermanent: typeof deleteRows = async (on, name, ids, limit) => {
  await on.run({ text: `alter table "${name}" disable trigger "${name}_no_delete"` })
  const count = await deleteRows(on, name, ids, limit)
  await on.run({ text: `alter table "${name}" enable trigger "${name}_no_delete"` })
  return count
}

/** Subjects first: their faces, templates, crops and groups are deleted with them. */
function batchedTables(): readonly string[] {
  const later = [...permanentTables, ...balanceTables, ...lastTables]
  const others = new Set(['subjects', ...credentialTables, ...later])
  const names = Object.keys(keysOf).filter((name) => !others.has(name))
  return ['subjects', ...names.toReversed()]
}

/** The primary keys of the tables of accounts, each table after those that it references. */
const keysOf: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(accountTables.map(({ name, targetKey }) => [name, targetKey])),
  appliedRemovals: ['nodeId', 'galleryId'],
}

/** Deletes rows of the account: all of them without a limit. @returns the number. */
async function deleteRows(on: QueryRunner, name: string, ids: AccountIds, limit?: number) {
  const condition = conditionOf(name, ids)
  if (condition === undefined) return 0
  const key = (keysOf[name] ?? []).map((column) => `"${column}"`).join(', ')
  const text = `delete from "${name}" where (${key}) in (
    select ${key} from "${name}" where ${condition} limit ${limit ?? 'all'})`
  return (await on.run({ text })).count
}

function conditionOf(name: string, ids: AccountIds): string | undefined {
  if (name === 'appliedRemovals') return ownedBy(ids, 'galleryId')
  const table = accountTables.find((owned) => owned.name === name)
  return table && ownedBy(ids, table.column)
}

/** Deletes the account itself with its projects. @returns the number of deleted rows. */
export async function removeAccount(on: QueryRunner, accountId: string): Promise<number> {
  const ids = await readAccountIds(on, accountId)
  let removed = 0
  for (const name of lastTables) removed += await deleteRows(on, name, ids)
  return removed
}

const setFrozen = prepare(
  'update projects set "isFrozen" = :isFrozen where "accountId" = :accountId',
)

/** Rejects new calls of the account (503) and signs its users out. Running calls continue. */
export async function rejectCalls(on: QueryRunner, accountId: string): Promise<void> {
  await setFrozen.run(on, { accountId, isFrozen: 1 })
  const ids = await readAccountIds(on, accountId)
  for (const name of ['sessions', 'links']) await deleteRows(on, name, ids)
}

/**
 * The longest wait for the locks of all tables. Writers wait behind it, so it is short. It is below the
 * second after which PostgreSQL ends one of several transactions that wait for each other.
 */
const lockTimeoutMs = 500

const countRunning = prepare<{ readonly calls: number }>(
  `select count(*) as calls from attempts join projects using ("projectId")
   where "accountId" = :accountId and state = 'running'`,
)

/** Returns the number of running calls of the account. */
export async function countRunningCalls(on: QueryRunner, accountId: string): Promise<number> {
  return (await countRunning.first(on, { accountId }))?.calls ?? 0
}

/**
 * Makes every write of the account fail, whichever process or version tries it: triggers compare each
 * row with the ids of the account. They cost other accounts almost nothing, because the condition is
 * evaluated without a function. Locking the tables first waits for running transactions.
 *
 * @returns false if a call was admitted meanwhile, or the locks were not available in time; nothing
 *   is frozen then.
 */
export async function tryFreezeWrites(source: MigrationTarget, accountId: string) {
  try {
    return await writeOnce(source, (on) => freezeWrites(on, accountId))
  } catch (error) {
    if (isLockTimeout(error)) return false
    throw error
  }
}

/** @throws Error, see `isLockTimeout`, if a lock was not available in time. */
function writeOnce<T>(source: MigrationTarget, job: (on: QueryRunner) => Promise<T>): Promise<T> {
  return source.write(async (on) => {
    await on.run({ text: `set local lock_timeout = ${lockTimeoutMs}` })
    return job(on)
  })
}

/** Repeats it until the locks are available. Between the attempts, other accounts can write. */
async function writeLocked<T>(source: MigrationTarget, job: (on: QueryRunner) => Promise<T>) {
  for (;;)
    try {
      return await writeOnce(source, job)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      await sleep(2 * lockTimeoutMs)
    }
}

async function freezeWrites(on: QueryRunner, accountId: string): Promise<boolean> {
  const prefix = triggerPrefix(accountId)
  if (await selectTriggers.first(on, { prefix })) return true
  const names = accountTables.map(({ name }) => `"${name}"`).join(', ')
  await on.run({ text: `lock table ${names} in share row exclusive mode` })
  if ((await countRunningCalls(on, accountId)) > 0) return false
  const ids = await readAccountIds(on, accountId)
  for (const text of triggers(accountId, ids)) await on.run({ text })
  return true
}

function triggers(accountId: string, ids: AccountIds): string[] {
  return accountTables.flatMap(({ name, column, onDelete }) => {
    const ofNew = ownedBy(ids, column, 'new.')
    const ofOld = ownedBy(ids, column, 'old.')
    if (ofNew === undefined) return [] // The parent of such a row cannot be added either.
    return [
      `create trigger "${triggerPrefix(accountId)}_write" before insert or update on "${name}"
        for each row when (${ofNew}) execute function "rejectFrozen"('reject')`,
      `create trigger "${triggerPrefix(accountId)}_delete" before delete on "${name}"
        for each row when (${ofOld}) execute function "rejectFrozen"('${onDelete}')`,
    ]
  })
}

function triggerPrefix(accountId: string): string {
  return `frozen_${accountId}`
}

const selectTriggers = prepare<{ readonly table: string; readonly name: string }>(
  `select relname as table, tgname as name from pg_trigger join pg_class c on c.oid = tgrelid
   where starts_with(tgname, :prefix) and tgparentid = 0
     and relnamespace = current_schema()::regnamespace`,
)

/** Permits the writes of the account again. */
async function dropTriggers(on: QueryRunner, accountId: string): Promise<void> {
  for (const { table, name } of await selectTriggers.all(on, { prefix: triggerPrefix(accountId) }))
    await on.run({ text: `drop trigger "${name}" on "${table}"` })
}

/** Ends the freeze: calls of the account are processed again. */
export async function unfreeze(on: QueryRunner, accountId: string): Promise<void> {
  await dropTriggers(on, accountId)
  await setFrozen.run(on, { accountId, isFrozen: 0 })
}
