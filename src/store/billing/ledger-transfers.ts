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
  /** From this moment on, and before that one. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** Where the page before ended. */
  readonly after?: Pick<LedgerTransfer, 'atMs' | 'transferId'> | undefined
  readonly limit: number
}

/** Movements of an account's money, the newest first. */
export function findTransfers(
  reading: ReadTx,
  filter: TransferFilter,
): Promise<readonly LedgerTransfer[]> {
  const { accountId, projectId, kind, fromMs, toMs, after } = filter
  const own = reading.build.selectFrom('ledgers').select('ledger')
  let query = selectTransfers(reading)
    // The chain's index stays out of it: rows come in the order of time.
    .where(
      dialectOf(reading.build).withoutIndex('t.chain'),
      'in',
      own.where('accountId', '=', accountId),
    )
  if (projectId !== undefined) query = query.where('t.projectId', '=', projectId)
  if (kind !== undefined) query = query.where('t.kind', '=', kind)
  // The index of what is no charge serves only a query that says so.
  if (kind !== undefined && kind !== 'charge') query = query.where(sql<boolean>`t.kind <> 'charge'`)
  if (fromMs !== undefined) query = query.where('t.atMs', '>=', fromMs)
  if (toMs !== undefined) query = query.where('t.atMs', '<', toMs)
  if (after)
    query = query.where((row) =>
      row(row.refTuple('t.atMs', 't.transferId'), '<', row.tuple(after.atMs, after.transferId)),
    )
  const ordered = query.orderBy('t.atMs', 'desc').orderBy('t.transferId', 'desc')
  return reading.run(ordered.limit(filter.limit))
}

/** One of them by its id. */
export async function findTransfer(
  reading: ReadTx,
  transferId: number,
): Promise<LedgerTransfer | undefined> {
  return (await reading.run(selectTransfers(reading).where('t.transferId', '=', transferId)))[0]
}

function selectTransfers(reading: ReadTx) {
  return reading.build
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

/** Calls of an account from one moment on, and before the other. */
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

/** What the log says that the calls of a time cost, and what the ledger charged for the same calls. */
export async function reconcile(
  reading: ReadTx,
  of: ReconciliationPeriod,
): Promise<Reconciliation> {
  const own = reading.build.selectFrom('projects').select('projectId')
  const query = reading.build
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
    .where('calls.atMs', '>=', of.fromMs)
    .where('calls.atMs', '<', of.toMs)
    .where('costMicros', '>', 0n)
    .where(
      dialectOf(reading.build).withoutIndex('calls.projectId'),
      'in',
      own.where('accountId', '=', of.accountId),
    )
  const [found] = await reading.run(query)
  return found ?? { logMicros: 0n, ledgerMicros: 0n, billedCalls: 0, charges: 0 }
}
