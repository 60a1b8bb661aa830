import { CompiledQuery } from '../database.ts'
import type { QueryRunner } from '../postgres/connection/kysely-driver.ts'
import type { Database } from '../schema.ts'
import type { MigrationTarget } from '../sqlite-to-postgres/target.ts'
import { accountTables } from '../sqlite-to-postgres/tables.ts'
import { ownedBy, readAccountIds, type AccountIds } from './copy-account.ts'
import { dropTriggers } from './freeze-account.ts'

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
