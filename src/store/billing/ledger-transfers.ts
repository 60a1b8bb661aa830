import type { InferResult } from 'kysely'
import { type ReadTx, dialectOf, sql } from '../database.ts'
import {
  countInSteps,
  readInSteps,
  selectPage,
  stepRows,
  type ListOrder,
  type ListSource,
  type TimeFilter,
} from '../lists.ts'
import { accountProjectIds } from '../tenancy/projects.ts'

/** A transfer, and the logged call that it pays for. */
export type LedgerTransfer = InferResult<ReturnType<typeof selectTransfers>>[number]

export type TransferFilter = TimeFilter &
  ListOrder<Pick<LedgerTransfer, 'atMs' | 'transferId'>> & {
    readonly accountId: string
    readonly projectId?: string | undefined
    readonly kind?: LedgerTransfer['kind'] | undefined
  }

/** Finds the transfers of an account, by default the newest first. SQLite reads them in steps. */
export function findTransfers(source: ListSource, filter: TransferFilter) {
  return readInSteps(source, filter, {
    findEnd: findStepEnd,
    find: (tx, part) => tx.run(withCalls(pageOfTransfers(tx, part))),
  })
}

/** Counts the transfers of a list, at most `listCountMax`. */
export function countTransfers(source: ListSource, filter: Omit<TransferFilter, 'limit'>) {
  return countInSteps<TransferFilter>(source, filter, {
    findEnd: findStepEnd,
    find: (tx, part) => tx.run(pageOfTransfers(tx, part).select('t.transferId')),
  })
}

/** Returns the position after a step of the index that finds the page; undefined at its end. */
async function findStepEnd(tx: ReadTx, { accountId: _accountId, ...filter }: TransferFilter) {
  const step = pageOfTransfers(tx, { ...filter, limit: 1 })
  const ends = await tx.run(step.select(['t.atMs', 't.transferId']).offset(stepRows - 1))
  return ends[0]
}

/** Selects a page of an account or, without its id, all rows of the index that finds the page. */
function pageOfTransfers(
  tx: ReadTx,
  { accountId, ...filter }: Omit<TransferFilter, 'accountId'> & Partial<TransferFilter>,
) {
  const { projectId, kind, fromMs: from, toMs: to, after, upTo, limit } = filter
  const { withoutIndex } = dialectOf(tx.build)
  let query = fromTransfers(tx)
  if (projectId !== undefined) query = query.where('t.projectId', '=', projectId)
  // The partial index without charges is used only if the query contains its condition.
  else if (kind !== undefined && kind !== 'charge')
    query = query.where('t.kind', '=', kind).where(sql<boolean>`t.kind <> 'charge'`)
  if (accountId !== undefined) {
    if (kind !== undefined) query = query.where(withoutIndex('t.kind'), '=', kind)
    const ledgers = tx.build.selectFrom('ledgers').select('ledger')
    const ofAccount = ledgers.where('accountId', '=', accountId)
    // The index on chains must not be used: rows are read in the order of time.
    query = query.where(withoutIndex('t.chain'), 'in', ofAccount)
  }
  return selectPage(query, {
    columns: ['t.atMs', 't.transferId'],
    from,
    to,
    after: after && [after.atMs, after.transferId],
    upTo: upTo && [upTo.atMs, upTo.transferId],
    isDescending: filter.isAscending !== true,
    limit,
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

function withCalls(transfers: ReturnType<typeof fromTransfers>) {
  return transfers
    .leftJoin('calls', 'calls.transferId', 't.transferId')
    .select([
      't.transferId',
      't.atMs',
      't.kind',
      't.fromLedger',
      't.toLedger',
      't.amountMicros',
      't.projectId',
      't.requestId',
      'callId',
    ])
}

/** The calls of an account, or of one project, with times `>= fromMs` and `< toMs`. */
export type ReconciliationPeriod = {
  readonly accountId: string
  readonly projectId?: string | undefined
  readonly fromMs: number
  readonly toMs: number
}

export type Reconciliation = {
  readonly logMicros: bigint
  readonly ledgerMicros: bigint
  readonly billedCalls: number
  readonly charges: number
}

/** Sums the cost of the calls of a period in the request log, and their charges in the ledger. */
export async function reconcile(
  tx: ReadTx,
  { accountId, projectId, fromMs, toMs }: ReconciliationPeriod,
): Promise<Reconciliation> {
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
