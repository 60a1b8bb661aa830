import { userNameKey } from '../console/users.ts'
import { isLockTimeout } from '../postgres/connection/fault.ts'
import { type QueryRunner, prepare } from '../postgres/connection/kysely-driver.ts'
import { quoteLiteral } from '../postgres/connection/values.ts'
import { markSwept } from '../postgres/log-partitions.ts'
import { findMatchingRows, rowDifferences } from '../sqlite-to-postgres/compare-tables.ts'
import { forEachLogMonth } from '../sqlite-to-postgres/copy-tables.ts'
import { type TableRow, insertRows } from '../sqlite-to-postgres/fill-target.ts'
import { type AccountTable, type OwnerColumn, movedTables } from '../sqlite-to-postgres/tables.ts'
import type { MigrationTarget } from '../sqlite-to-postgres/target.ts'

export type AccountCopy = RowChanges & {
  /** A transaction of the source, whose account is frozen. */
  readonly source: QueryRunner
  /** A transaction of the target: it contains all rows, or none. */
  readonly target: QueryRunner
  readonly ids: AccountIds
  readonly onProgress: (progress: AccountCopyProgress) => void
}

export type AccountCopyProgress = {
  readonly step: 'copied' | 'compared'
  readonly table: string
  readonly rows: number
}

export type CopiedTable = { readonly table: string; readonly rows: number }

/** Copies all rows of the account. @returns the number of rows of each table. */
export async function copyAccount(copy: AccountCopy): Promise<readonly CopiedTable[]> {
  const { target, ids, onProgress } = copy
  const copied: CopiedTable[] = []
  for (const table of movedTables) {
    const { name } = table
    const condition = ownedBy(ids, table.column)
    if (table.isFilledByTriggers && condition !== undefined)
      await target.run({ text: `delete from "${name}" where ${condition}` })
    let rows = 0
    for await (const batch of readRows(copy, table)) {
      await insertRows(target, table, batch, Object.keys(batch[0] ?? {}))
      rows += batch.length
      onProgress({ step: 'copied', table: name, rows })
    }
    copied.push({ table: name, rows })
  }
  return copied
}

const differencesMax = 5

/**
 * Reads all rows of the source again and compares every value with the target, and the number of rows.
 *
 * @throws Error that names the differing rows.
 */
export async function requireEqualRows(copy: AccountCopy): Promise<void> {
  const { target, ids, onProgress } = copy
  const differences: string[] = []
  for (const table of movedTables) {
    const { name } = table
    let rows = 0
    for await (const batch of readRows(copy, table)) {
      const found = await findMatchingRows(target, table, batch)
      differences.push(...rowDifferences(table, batch, found))
      rows += batch.length
      onProgress({ step: 'compared', table: name, rows })
    }
    const condition = ownedBy(ids, table.column) ?? 'false'
    const text = `select count(*) as count from "${name}" where ${condition}`
    const count = Number((await target.run({ text })).rows[0]?.['count'])
    if (count !== rows)
      differences.push(`${name} has ${rows} rows in the source, ${count} in the target`)
  }
  if (differences.length > 0)
    throw new Error(
      `the copy differs, so nothing was moved: ${differences.slice(0, differencesMax).join('; ')}`,
    )
}

/** @yields the rows of the account as the target stores them, in batches. */
async function* readRows(copy: AccountCopy, table: AccountTable) {
  const { source, ids } = copy
  const condition = ownedBy(ids, table.column)
  if (condition === undefined) return
  const order = table.key.map((column) => `"${column}"`).join(', ')
  await source.run({
    text: `declare "accountRows" no scroll cursor for
      select * from "${table.name}" where ${condition} order by ${order}`,
  })
  for (let isLast = false; !isLast;) {
    const { rows } = await source.run({ text: `fetch ${table.batchRows} from "accountRows"` })
    isLast = rows.length < table.batchRows
    if (rows.length > 0) yield rows.map((row) => adaptRow(table, row, copy))
  }
  await source.run({ text: 'close "accountRows"' })
}

const selectNextCall = (condition: string) =>
  `select min("atMs") as "atMs" from calls where "atMs" >= $1 and ${condition}`

/** Creates the partitions of the request log for the months in which the account has calls. */
export async function createLogMonths(
  source: QueryRunner,
  target: MigrationTarget,
  ids: AccountIds,
): Promise<void> {
  const condition = ownedBy(ids, 'projectId')
  if (condition === undefined) return
  const findNextCallMs = async (fromMs: number): Promise<number | undefined> => {
    const { rows } = await source.run({ text: selectNextCall(condition), values: [fromMs] })
    const atMs = rows[0]?.['atMs']
    return typeof atMs === 'number' ? atMs : undefined
  }
  await forEachLogMonth(findNextCallMs, (atMs) => createLogMonth(target, atMs))
}

const triesMax = 50

/** Repeats it while the calls of the target's servers prevent the lock. */
async function createLogMonth(target: MigrationTarget, atMs: number): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await target.createLogPartition(atMs)
    } catch (error) {
      if (!isLockTimeout(error) || tries === triesMax) throw error
    }
}

/** What is added to the generated numbers of a table, by its name. */
type IdOffsets = ReadonlyMap<string, number>

/**
 * Reserves as many numbers in the target as the account's range of numbers in the source, so that
 * the order of its rows and their references remain the same.
 */
export async function reserveIds(source: QueryRunner, target: MigrationTarget, ids: AccountIds) {
  const offsets = new Map<string, number>()
  for (const table of movedTables) {
    const { name, sequence, column, key } = table
    const condition = ownedBy(ids, column)
    if (sequence === undefined || condition === undefined) continue
    const text = `select min("${key[0]}") as first, max("${key[0]}") as last
      from "${name}" where ${condition}`
    const range = (await source.run({ text })).rows[0]
    if (typeof range?.['first'] !== 'number') continue
    const count = Number(range['last']) - range['first'] + 1
    const first = await target.write((on) => reserveRange(on, table, count))
    offsets.set(name, first - range['first'])
  }
  return offsets
}

/** The lock waits for rows whose number was generated, and excludes others until the commit. */
async function reserveRange(on: QueryRunner, table: AccountTable, count: number): Promise<number> {
  const sequence = table.sequence ?? ''
  await on.run({ text: `lock table "${table.name}" in share row exclusive mode` })
  const { rows } = await on.run({ text: `select nextval(${sequence}) as first` })
  const first = Number(rows[0]?.['first'])
  await on.run({ text: `select setval(${sequence}, $1::bigint)`, values: [first + count - 1] })
  return first
}

/** What differs in the target: the generated numbers, the names of some users, the account's age. */
type RowChanges = {
  readonly offsets: IdOffsets
  /** User → the name in the target. */
  readonly newNames: ReadonlyMap<string, string>
  readonly movedAtUtc: string
}

/** Returns a row of the source as it is stored in the target. */
function adaptRow(
  { name, sequence, key: [column = ''] }: AccountTable,
  row: TableRow,
  { offsets, newNames, movedAtUtc }: RowChanges,
): TableRow {
  // Commands without an account concern the oldest one, which must not change.
  if (name === 'accounts') return { ...row, createdAtUtc: movedAtUtc }
  if (name === 'projects') return { ...row, isFrozen: 0 }
  if (name === 'users') {
    const newName = newNames.get(String(row['userId']))
    return newName === undefined ? row : { ...row, name: newName, nameKey: userNameKey(newName) }
  }
  if (sequence === undefined) return row
  const id = Number(row[column]) + (offsets.get(name) ?? 0)
  if (name !== 'calls' || row['transferId'] === null) return { ...row, [column]: id }
  const transferId = Number(row['transferId']) + (offsets.get('ledgerTransfers') ?? 0)
  return { ...row, [column]: id, transferId }
}

const selectSweptTime = prepare<{ readonly valueMs: number }>(
  `select "valueMs" from watermarks where name = 'callsSweptBefore'`,
)

/** Charges before this time have no rows in the log, and the audit of the target expects none. */
export async function copySweptTime(source: QueryRunner, target: MigrationTarget): Promise<void> {
  const swept = await selectSweptTime.first(source, {})
  if (swept) await target.write((on) => markSwept.run(on, { beforeMs: swept.valueMs }))
}

/** The values of these columns that belong to one account. */
export type AccountIds = Readonly<Record<OwnerColumn, readonly string[]>>

/** Returns the SQL condition that a row belongs to the account; undefined: it has no such rows. */
export function ownedBy(ids: AccountIds, column: OwnerColumn, row = ''): string | undefined {
  const values = ids[column]
  if (values.length === 0) return undefined
  return `${row}"${column}" = any (array[${values.map(quoteLiteral).join(', ')}]::text[])`
}

const selectIds = prepare<AccountIds>(
  `select array[:accountId::text] as "accountId",
     array(select "projectId" from projects where "accountId" = :accountId order by 1)
       as "projectId",
     array(select "galleryId" from galleries where "accountId" = :accountId order by 1)
       as "galleryId",
     array(select ledger from ledgers where "accountId" = :accountId order by 1) as chain,
     array(select "userId" from users where "accountId" = :accountId order by 1) as "userId",
     array(select "webhookId" from webhooks join projects using ("projectId")
       where "accountId" = :accountId order by 1) as "webhookId"`,
)

export async function readAccountIds(on: QueryRunner, accountId: string): Promise<AccountIds> {
  const ids = await selectIds.first(on, { accountId })
  if (!ids) throw new Error('the database returned no ids')
  return ids
}
