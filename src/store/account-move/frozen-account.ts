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

/**
 * Deletes the frozen copy of an account that was moved, except its ledger and its other permanent rows: first the
 * credentials, so that nothing can use the account without the triggers of the freeze, then all
 * other rows in batches.
 *
 * @returns the number of deleted rows.
 */
export async function removeRows(
  source: MigrationTarget,
  accountId: string,
  onProgress: (progress: { readonly table: string; readonly rows: number }) => void,
): Promise<number> {
  const ids = await source.read((on) => readAccountIds(on, accountId))
  await source.write(async (on) => {
    await dropTriggers(on, accountId)
    for (const name of credentialTables) await removeAll(on, name, ids)
  })
  let removed = 0
  for (const name of batchedTables()) {
    let rows = 0
    for (let count = batchRows; count === batchRows; rows += count)
      count = await source.write((on) => removeBatch(on, name, ids))
    removed += rows
    if (rows > 0) onProgress({ table: name, rows })
  }
  return removed
}

/** Subjects first: their faces, templates, crops and groups are deleted with them. */
function batchedTables(): readonly string[] {
  const other = new Set([
    'subjects',
    ...credentialTables,
    ...permanentTables,
    ...balanceTables,
    ...lastTables,
  ])
  return [
    'subjects',
    ...Object.keys(keysOf)
      .filter((name) => !other.has(name))
      .toReversed(),
  ]
}

/** The primary keys of the tables of accounts, each table after those that it references. */
const keysOf: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(accountTables.map(({ name, targetKey }) => [name, targetKey])),
  appliedRemovals: ['nodeId', 'galleryId'],
}

async function removeBatch(on: QueryRunner, name: string, ids: AccountIds): Promise<number> {
  const condition = conditionOf(name, ids)
  if (condition === undefined) return 0
  const key = (keysOf[name] ?? []).map((column) => `"${column}"`).join(', ')
  const text = `delete from "${name}" where (${key}) in (
    select ${key} from "${name}" where ${condition} limit ${batchRows})`
  return (await on.run({ text })).count
}

async function removeAll(on: QueryRunner, name: string, ids: AccountIds): Promise<number> {
  const condition = conditionOf(name, ids)
  if (condition === undefined) return 0
  return (await on.run({ text: `delete from "${name}" where ${condition}` })).count
}

function conditionOf(name: string, ids: AccountIds): string | undefined {
  if (name === 'appliedRemovals') return ownedBy(ids, 'galleryId')
  const table = accountTables.find((owned) => owned.name === name)
  return table && ownedBy(ids, table.column)
}

/**
 * Deletes the ledger, the deletion records and the audit log of the account. The triggers that
 * protect these rows are disabled in this transaction only: its locks exclude all other writers.
 *
 * @returns the number of deleted rows.
 */
export async function removePermanentRows(on: QueryRunner, accountId: string): Promise<number> {
  const ids = await readAccountIds(on, accountId)
  let removed = 0
  for (const name of permanentTables) {
    await on.run({ text: `alter table "${name}" disable trigger "${name}_no_delete"` })
    removed += await removeAll(on, name, ids)
    await on.run({ text: `alter table "${name}" enable trigger "${name}_no_delete"` })
  }
  for (const name of balanceTables) removed += await removeAll(on, name, ids)
  return removed
}

/** Deletes the account itself with its projects. @returns the number of deleted rows. */
export async function removeAccount(on: QueryRunner, accountId: string): Promise<number> {
  const ids = await readAccountIds(on, accountId)
  let removed = 0
  for (const name of lastTables) removed += await removeAll(on, name, ids)
  return removed
}

const setFrozen = prepare(
  'update projects set "isFrozen" = :isFrozen where "accountId" = :accountId',
)
const deleteSessions = prepare(
  `delete from sessions where "userId" in (select "userId" from users where "accountId" = :accountId)`,
)
const deleteLinks = prepare(
  `delete from links where "userId" in (select "userId" from users where "accountId" = :accountId)`,
)

/** Rejects new calls of the account (503) and signs its users out. Running calls continue. */
export async function rejectCalls(on: QueryRunner, accountId: string): Promise<void> {
  await setFrozen.run(on, { accountId, isFrozen: 1 })
  await deleteSessions.run(on, { accountId })
  await deleteLinks.run(on, { accountId })
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
    return await source.write((on) => freezeWrites(on, accountId))
  } catch (error) {
    const isBusy = error instanceof Error && isLockTimeout(error.cause)
    if (isBusy) return false
    throw error
  }
}

async function freezeWrites(on: QueryRunner, accountId: string): Promise<boolean> {
  if (await isFrozen(on, accountId)) return true
  const names = accountTables.map(({ name }) => `"${name}"`).join(', ')
  await on.run({ text: `set local lock_timeout = ${lockTimeoutMs}` })
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

/** Whether all writes of the account fail already. */
async function isFrozen(on: QueryRunner, accountId: string): Promise<boolean> {
  const prefix = triggerPrefix(accountId)
  return (await selectTriggers.first(on, { prefix })) !== undefined
}

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
