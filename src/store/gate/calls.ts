import type { Selectable } from 'kysely'
import type { ListCount } from '../../lib/limits/list-limits.ts'
import { isSuccess, type DecisionOutcome } from '../../lib/observability/call-decision.ts'
import { dialectOf } from '../dialect.ts'
import { sql } from '../load-kysely.ts'
import type { Database, CallRow } from '../schema.ts'
import { countListed, countRows, selectPage } from '../lists.ts'
import { accountProjectIds } from '../tenancy/projects.ts'
import type { ReadTx } from '../tx.ts'

export type LoggedCall = Selectable<CallRow>

/** Selects rows of the request log; a row must match all given conditions. */
export type CallFilter = {
  readonly projectId?: string | undefined
  readonly keyId?: string | undefined
  readonly action?: string | undefined
  readonly code?: string | undefined
  /** Only calls with this result. */
  readonly result?: 'ok' | 'failed' | undefined
  /** Only calls that decided this. */
  readonly outcome?: DecisionOutcome | undefined
  /** Only near misses, or only other calls. */
  readonly nearMiss?: boolean | undefined
  /** As the caller sent it, or in lower case. */
  readonly requestId?: string | undefined
  /** The first characters of the request id, as the caller sent it, in lower or in upper case. */
  readonly requestIdPrefix?: string | undefined
  /** Only calls of this account's projects. */
  readonly accountId?: string | undefined
  /** Times `>= fromMs` and `< toMs`. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** By default the newest first. The database sorts by latency without an index: limit the rows. */
  readonly sort?: CallSort | undefined
  /** The last row of the previous page. */
  readonly after?: CallCursor | undefined
  readonly limit: number
}

/** The order of rows; rows with equal values are ordered by their ids. */
export type CallSort = { readonly by: 'atMs' | 'latencyMs'; readonly isDescending: boolean }

/** The position of a row in the log: its id and the value of the order. */
export type CallCursor = Pick<LoggedCall, 'callId'> &
  Partial<Pick<LoggedCall, 'atMs' | 'latencyMs'>>

/** Finds rows of the request log, by default the newest first. New rows do not shift later pages. */
export function findCalls(db: Database, filter: CallFilter): Promise<LoggedCall[]> {
  return callQuery(db, filter).execute()
}

/** Does the same in a read transaction. */
export function readCalls(tx: ReadTx, filter: CallFilter): Promise<readonly LoggedCall[]> {
  return tx.run(callQuery(tx.build, filter))
}

function callQuery(db: Database, filter: CallFilter) {
  const { accountId, after, sort = { by: 'atMs', isDescending: true } } = filter
  let query = matchingCalls(db, filter).selectAll()
  // The index on projects must not be used: rows are read in the order of time.
  if (accountId !== undefined)
    query = query.where(
      dialectOf(db).withoutIndex('calls.projectId'),
      'in',
      accountProjectIds(db, accountId),
    )
  return selectPage(query, {
    columns: [sort.by, 'callId'],
    after: after && [after[sort.by] ?? 0, after.callId],
    isDescending: sort.isDescending,
    limit: filter.limit,
  })
}

/** Counts the rows that a list contains, at most `listCountMax`. */
export function countLoggedCalls(
  tx: ReadTx,
  filter: Omit<CallFilter, 'after' | 'limit' | 'sort'>,
): Promise<ListCount> {
  const { accountId } = filter
  let query = matchingCalls(tx.build, filter).select('callId')
  // The order does not matter, so each project of the account is read with the index on projects.
  if (accountId !== undefined)
    query = query.where('projectId', 'in', accountProjectIds(tx.build, accountId))
  return countListed(tx, query)
}

function matchingCalls(db: Database, filter: Omit<CallFilter, 'after' | 'limit' | 'sort'>) {
  const { result, outcome, nearMiss, requestId, requestIdPrefix, fromMs, toMs } = filter
  const isByPrefix = requestIdPrefix !== undefined
  let query = db.selectFrom('calls')
  for (const name of ['projectId', 'keyId', 'action', 'code'] as const) {
    const value = filter[name]
    if (value === undefined) continue
    // A prefix selects few rows; the other indexes would read many.
    query = isByPrefix
      ? query.where(dialectOf(db).withoutIndex(`calls.${name}`), '=', value)
      : query.where(name, '=', value)
  }
  if (result === 'ok') query = query.where('code', '=', 'OK')
  // The partial indexes of failures are used only if the query contains their condition.
  const isFailure = filter.code !== undefined && filter.code !== 'OK'
  if (result === 'failed' || (isFailure && !isByPrefix))
    query = query.where(sql<boolean>`code <> 'OK'`)
  if (outcome !== undefined) query = query.where('outcome', '=', outcome)
  if (outcome !== undefined && !isSuccess(outcome) && !isByPrefix)
    query = query.where(sql<boolean>`outcome not in ('match', 'live', 'passed')`)
  if (nearMiss !== undefined)
    query = query.where(sql<boolean>`"nearMiss" = ${sql.lit(nearMiss ? 1 : 0)}`)
  if (requestId !== undefined)
    query = query.where('requestId', 'in', [requestId, requestId.toLowerCase()])
  if (isByPrefix)
    query = query.where('callId', 'in', callsByPrefix(db, requestIdPrefix).select('callId'))
  if (fromMs !== undefined) query = query.where('atMs', '>=', fromMs)
  return toMs === undefined ? query : query.where('atMs', '<', toMs)
}

/** Selects the calls whose request id starts with a prefix, with the index on request ids. */
function callsByPrefix(db: Database, prefix: string) {
  const spellings = [...new Set([prefix, prefix.toLowerCase(), prefix.toUpperCase()])]
  return db.selectFrom('calls').where((row) =>
    row.or(
      spellings.map((start) =>
        // Request ids have digits, letters and hyphens, which precede the end of this range.
        row.and([row('requestId', '>=', start), row('requestId', '<', `${start}~`)]),
      ),
    ),
  )
}

/** Counts the calls whose request id starts with a prefix, up to `max`. */
export function countCallsByPrefix(tx: ReadTx, prefix: string, max: number): Promise<number> {
  return countRows(tx, callsByPrefix(tx.build, prefix).select('callId').limit(max))
}

/** Finds one row by its id. */
export async function findCall(tx: ReadTx, callId: number): Promise<LoggedCall | undefined> {
  return (await tx.run(tx.build.selectFrom('calls').selectAll().where('callId', '=', callId)))[0]
}
