import type { InferResult } from 'kysely'
import type { ListCount } from '../../lib/limits/list-limits.ts'
import { type ReadTx, dialectOf, sql } from '../database.ts'
import { countListed, selectPage, whereBetween, type ListOrder, type TimeFilter } from '../lists.ts'
import { accountProjectIds } from '../tenancy/projects.ts'

/** A transfer, and the logged call that it pays for. */
export type LedgerTransfer = InferResult<ReturnType<typeof selectTransfers>>[number]

export type TransferFilter = TimeFilter &
  ListOrder<Pick<LedgerTransfer, 'atMs' | 'transferId'>> & {
    readonly accountId: string
    readonly projectId?: string | undefined
    readonly kind?: LedgerTransfer['kind'] | undefined
  }

/** Finds the transfers of an account, by default the newest first. */
export function findTransfers(tx: ReadTx, filter: TransferFilter) {
  const { isAscending = false, after, limit } = filter
  const ledgers = accountLedgers(tx, filter.accountId)
  const query = matchingTransfers(selectTransfers(tx), filter)
    // The index on chains must not be used: rows are read in the order of time.
    .where(dialectOf(tx.build).withoutIndex('t.chain'), 'in', ledgers)
  const page = selectPage(query, {
    columns: ['t.atMs', 't.transferId'],
    from: filter.fromMs,
    to: filter.toMs,
    after: after && [after.atMs, after.transferId],
    isDescending: !isAscending,
    limit,
  })
  return tx.run(page)
}

/** Counts the transfers of a list, at most `listCountMax`. */
export function countTransfers(
  tx: ReadTx,
  filter: Omit<TransferFilter, 'after' | 'limit' | 'isAscending'>,
): Promise<ListCount> {
  // The order does not matter, so each ledger of the account is read with the index on chains.
  const ledgers = accountLedgers(tx, filter.accountId)
  const transfers = matchingTransfers(selectTransfers(tx), filter)
  const ofPeriod = whereBetween(transfers, sql.ref('t.atMs'), {
    from: filter.fromMs,
    to: filter.toMs,
  })
  return countListed(tx, ofPeriod.where('t.chain', 'in', ledgers))
}

function accountLedgers(tx: ReadTx, accountId: string) {
  return tx.build.selectFrom('ledgers').select('ledger').where('accountId', '=', accountId)
}

function matchingTransfers(
  transfers: ReturnType<typeof selectTransfers>,
  { projectId, kind }: Pick<TransferFilter, 'projectId' | 'kind'>,
) {
  let query = transfers
  if (projectId !== undefined) query = query.where('t.projectId', '=', projectId)
  if (kind !== undefined) query = query.where('t.kind', '=', kind)
  // The partial index without charges is used only if the query contains its condition.
  if (kind !== undefined && kind !== 'charge') query = query.where(sql<boolean>`t.kind <> 'charge'`)
  return query
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
  return tx.build
    .selectFrom('ledgerTransfers as t')
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
