import type { InferResult } from 'kysely'
import { listCountMax, toListCount } from '../../lib/limits/list-limits.ts'
import { type ReadTx, dialectOf, sql } from '../database.ts'
import {
  ofEachProject,
  pageByTime,
  readInSteps,
  rowsOfProjects,
  selectPage,
  stepRows,
  type ListOrder,
  type ListSource,
  type TimeFilter,
} from '../lists.ts'
import { accountProjectIds, walletLedger } from '../tenancy/projects.ts'

/** A transfer, and the logged call that it pays for. */
export type LedgerTransfer = InferResult<ReturnType<typeof selectTransfers>>[number]

export type TransferFilter = TimeFilter &
  ListOrder<Pick<LedgerTransfer, 'atMs' | 'transferId'>> & {
    readonly accountId: string
    readonly projectId?: string | undefined
    readonly kind?: LedgerTransfer['kind'] | undefined
  }

/** Finds the transfers of an account, by default the newest first. SQLite reads them in steps. */
export async function findTransfers(source: ListSource, filter: TransferFilter) {
  return readInSteps(source, await listsOf(source, filter), {
    findEnd: findStepEnd,
    find: (tx, part) => tx.run(withCalls(pageOfTransfers(tx, part))),
    compare: (a, b) => a.atMs - b.atMs || a.transferId - b.transferId,
  })
}

/** Counts the transfers of a list, at most `listCountMax`. */
export async function countTransfers(source: ListSource, filter: Omit<TransferFilter, 'limit'>) {
  const lists = await listsOf(source, { ...filter, limit: listCountMax + 1 })
  const find = (tx: ReadTx, part: TransferFilter) =>
    tx.run(pageOfTransfers(tx, part, false).select('t.transferId'))
  return toListCount((await readInSteps(source, lists, { findEnd: findStepEnd, find })).length)
}

/** SQLite has no lateral joins: it reads the transfers of each project, and the top-ups. */
async function listsOf(source: ListSource, filter: TransferFilter): Promise<TransferFilter[]> {
  if (source.isShared || isMoney(filter.kind)) return [filter]
  const projects = await source.read((tx) => tx.run(projectIds(tx, filter)))
  const lists = projects.map((project) => ({ ...filter, ...project }))
  return (filter.projectId ?? filter.kind) ? lists : [...lists, { ...filter, kind: 'topUp' }]
}

function projectIds({ build }: ReadTx, { accountId, projectId }: TransferFilter) {
  const projects = accountProjectIds(build, accountId)
  return projectId === undefined ? projects : projects.where('projectId', '=', projectId)
}

/** Returns the position after a step; undefined at the end, and if an index finds only rows to return. */
async function findStepEnd(tx: ReadTx, filter: TransferFilter) {
  const { projectId, kind } = filter
  if ((isMoney(kind) ? projectId : kind) === undefined) return undefined
  const step = sortTransfers(indexedTransfers(tx, filter), { ...filter, limit: 1 })
  const ends = await tx.run(step.select(['t.atMs', 't.transferId']).offset(stepRows - 1))
  return ends[0]
}

/** @param isSorted without it, PostgreSQL may read any transfers up to the limit. */
function pageOfTransfers(tx: ReadTx, filter: TransferFilter, isSorted = true): Transfers {
  const { projectId, kind, limit } = filter
  const { withoutIndex, hasLateralJoins } = dialectOf(tx.build)
  const ofKind = (rows: Transfers) =>
    kind === undefined ? rows : rows.where(withoutIndex('t.kind'), '=', kind)
  if (hasLateralJoins && !isMoney(kind)) {
    // The ledger can have millions of transfers of other accounts for each one of this account.
    const rows = ofEachProject(ofKind(fromTransfers(tx)), filter.isAscending !== true)
    const ofEach = rowsOfProjects(projectIds(tx, filter), sortTransfers(rows, filter).selectAll())
    const topUps = pageOfTransfers(tx, { ...filter, kind: 'topUp' }).selectAll()
    const all = (projectId ?? kind) ? ofEach : sql`(${ofEach} union all ${topUps})`
    const transfers = tx.build.selectFrom(all.as('t')) as Transfers
    return isSorted ? sortTransfers(transfers, filter) : transfers.limit(limit)
  }
  let query = ofKind(indexedTransfers(tx, filter))
  if (projectId !== undefined) query = query.where(withoutIndex('t.projectId'), '=', projectId)
  return sortTransfers(query, filter)
}

/** Selects the transfers of an index: those of a wallet and kind, of a project, or all. */
function indexedTransfers(tx: ReadTx, { accountId, projectId, kind }: TransferFilter): Transfers {
  const query = fromTransfers(tx)
  if (!isMoney(kind))
    return projectId === undefined ? query : query.where('t.projectId', '=', projectId)
  // The partial index without charges is used only if the query contains its condition.
  const ofWallet = query.where('t.chain', '=', walletLedger(accountId)).where('t.kind', '=', kind)
  return ofWallet.where(sql<boolean>`t.kind <> 'charge'`)
}

/** Whether a wallet's chain has all transfers of the kind. */
function isMoney(kind: TransferFilter['kind']): kind is 'topUp' | 'allocate' {
  return kind !== undefined && kind !== 'charge'
}

function sortTransfers(transfers: Transfers, filter: TransferFilter): Transfers {
  return selectPage(transfers, {
    columns: ['t.atMs', 't.transferId'],
    ...pageByTime(filter, (row) => row.transferId),
  })
}

/** Finds one transfer by its id. */
export async function findTransfer(tx: ReadTx, transferId: number) {
  return (await tx.run(selectTransfers(tx).where('t.transferId', '=', transferId)))[0]
}

/** Finds the top-up of a wallet by the id of its request. */
export async function findTopUp(tx: ReadTx, wallet: string, requestId: string) {
  const query = selectTransfers(tx)
    .where('t.chain', '=', wallet)
    .where('t.requestId', '=', requestId)
    .where(sql<boolean>`t.kind = 'topUp'`)
  return (await tx.run(query))[0]
}

function selectTransfers(tx: ReadTx) {
  return withCalls(fromTransfers(tx))
}

function fromTransfers(tx: ReadTx) {
  return tx.build.selectFrom('ledgerTransfers as t')
}

type Transfers = ReturnType<typeof fromTransfers>

function withCalls(transfers: Transfers) {
  // A join would be computed before the limit of a page.
  return transfers.select((row) => [
    't.transferId',
    't.atMs',
    't.kind',
    't.fromLedger',
    't.toLedger',
    't.amountMicros',
    't.projectId',
    't.requestId',
    row
      .selectFrom('calls')
      .select('callId')
      .whereRef('calls.transferId', '=', 't.transferId')
      .limit(1)
      .as('callId'),
  ])
}

/** The calls of an account, or of one project, with times `>= fromMs` and `< toMs`. */
export type ReconciliationPeriod = {
  readonly accountId: string
  readonly projectId?: string | undefined
  readonly fromMs: number
  readonly toMs: number
}

export type Reconciliation = Awaited<ReturnType<typeof reconcile>>

/** Sums the cost of the calls of a period in the request log, and their charges in the ledger. */
export async function reconcile(
  tx: ReadTx,
  { accountId, projectId, fromMs, toMs }: ReconciliationPeriod,
) {
  const projects = accountProjectIds(tx.build, accountId)
  let query = tx.build
    .selectFrom('calls')
    .leftJoin('ledgerTransfers as t', (on) =>
      on.onRef('t.transferId', '=', 'calls.transferId').on('t.kind', '=', 'charge'),
    )
    .select([
      sql<bigint>`coalesce(sum("costMicros"), 0)`.as('logMicros'),
      sql<bigint>`coalesce(sum("amountMicros"), 0)`.as('ledgerMicros'),
      sql<number>`count(*)`.as('billedCalls'),
      sql<number>`count(t."transferId")`.as('charges'),
    ])
    .where('calls.atMs', '>=', fromMs)
    .where('calls.atMs', '<', toMs)
    .where('costMicros', '>', 0n)
    .where(dialectOf(tx.build).withoutIndex('calls.projectId'), 'in', projects)
  if (projectId !== undefined) query = query.where('calls.projectId', '=', projectId)
  const [row] = await tx.run(query)
  return row ?? { logMicros: 0n, ledgerMicros: 0n, billedCalls: 0, charges: 0 }
}
