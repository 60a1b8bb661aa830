import { sql, type Selectable } from 'kysely'
import { dialectOf } from '../dialect.ts'
import type { TransferRow } from '../schema.ts'
import type { ReadTx } from '../tx.ts'

export type LedgerTransfer = Pick<
  Selectable<TransferRow>,
  | 'transferId'
  | 'atMs'
  | 'kind'
  | 'fromLedger'
  | 'toLedger'
  | 'amountMicros'
  | 'projectId'
  | 'requestId'
> & { readonly callId: number | null }

export type TransferFilter = {
  readonly accountId: string
  readonly projectId?: string | undefined
  readonly kind?: LedgerTransfer['kind'] | undefined
  /** Times `>= fromMs` and `< toMs`. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** The last transfer of the previous page. */
  readonly after?: Pick<LedgerTransfer, 'atMs' | 'transferId'> | undefined
  readonly limit: number
}

/** Finds the transfers of an account, the newest first. */
export function findTransfers(
  tx: ReadTx,
  filter: TransferFilter,
): Promise<readonly LedgerTransfer[]> {
  const { accountId, projectId, kind, fromMs, toMs, after } = filter
  const ledgers = tx.build.selectFrom('ledgers').select('ledger').where('accountId', '=', accountId)
  let query = selectTransfers(tx)
    // The index on chains must not be used: rows are read in the order of time.
    .where(dialectOf(tx.build).withoutIndex('t.chain'), 'in', ledgers)
  if (projectId !== undefined) query = query.where('t.projectId', '=', projectId)
  if (kind !== undefined) query = query.where('t.kind', '=', kind)
  // The partial index without charges is used only if the query contains its condition.
  if (kind !== undefined && kind !== 'charge') query = query.where(sql<boolean>`t.kind <> 'charge'`)
  if (fromMs !== undefined) query = query.where('t.atMs', '>=', fromMs)
  if (toMs !== undefined) query = query.where('t.atMs', '<', toMs)
  if (after)
    query = query.where((row) =>
      row(row.refTuple('t.atMs', 't.transferId'), '<', row.tuple(after.atMs, after.transferId)),
    )
  const ordered = query.orderBy('t.atMs', 'desc').orderBy('t.transferId', 'desc')
  return tx.run(ordered.limit(filter.limit))
}

/** Finds one transfer by its id. */
export async function findTransfer(
  tx: ReadTx,
  transferId: number,
): Promise<LedgerTransfer | undefined> {
  return (await tx.run(selectTransfers(tx).where('t.transferId', '=', transferId)))[0]
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

/** The calls of an account with times `>= fromMs` and `< toMs`. */
export type ReconciliationPeriod = {
  readonly accountId: string
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
  { accountId, fromMs, toMs }: ReconciliationPeriod,
): Promise<Reconciliation> {
  const projects = tx.build
    .selectFrom('projects')
    .select('projectId')
    .where('accountId', '=', accountId)
  const query = tx.build
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
  const [row] = await tx.run(query)
  return row ?? { logMicros: 0n, ledgerMicros: 0n, billedCalls: 0, charges: 0 }
}
