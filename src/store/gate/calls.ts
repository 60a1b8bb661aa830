import { sql, type Selectable } from 'kysely'
import { dialectOf } from '../dialect.ts'
import type { Database, CallRow } from '../schema.ts'
import type { ReadTx } from '../tx.ts'

export type LoggedCall = Selectable<CallRow>

/** Selects rows of the request log; a row must match all given conditions. */
export type CallFilter = {
  readonly projectId?: string | undefined
  readonly keyId?: string | undefined
  readonly action?: string | undefined
  readonly code?: string | undefined
  /** As the caller sent it, or in lower case. */
  readonly requestId?: string | undefined
  /** Only calls of this account's projects. */
  readonly accountId?: string | undefined
  /** Times `>= fromMs` and `< toMs`. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** The last row of the previous page. */
  readonly after?: CallCursor | undefined
  readonly limit: number
}

/** The position of a row in the log, which is ordered by time and then by id. */
export type CallCursor = Pick<LoggedCall, 'atMs' | 'callId'>

/** Finds rows of the request log, the newest first. New rows do not shift later pages. */
export function findCalls(db: Database, filter: CallFilter): Promise<LoggedCall[]> {
  return callQuery(db, filter).execute()
}

/** Does the same in a read transaction. */
export function readCalls(tx: ReadTx, filter: CallFilter): Promise<readonly LoggedCall[]> {
  return tx.run(callQuery(tx.build, filter))
}

function callQuery(db: Database, filter: CallFilter) {
  const { requestId, accountId, fromMs, toMs, after } = filter
  let query = db.selectFrom('calls').selectAll()
  for (const name of ['projectId', 'keyId', 'action', 'code'] as const) {
    const value = filter[name]
    if (value !== undefined) query = query.where(name, '=', value)
  }
  // The partial index of failures is used only if the query contains its condition.
  if (filter.code !== undefined && filter.code !== 'OK')
    query = query.where(sql<boolean>`code <> 'OK'`)
  if (requestId !== undefined)
    query = query.where('requestId', 'in', [requestId, requestId.toLowerCase()])
  // The index on projects must not be used: rows are read in the order of time.
  if (accountId !== undefined) {
    const projects = db
      .selectFrom('projects')
      .select('projectId')
      .where('accountId', '=', accountId)
    query = query.where(dialectOf(db).withoutIndex('calls.projectId'), 'in', projects)
  }
  if (fromMs !== undefined) query = query.where('atMs', '>=', fromMs)
  if (toMs !== undefined) query = query.where('atMs', '<', toMs)
  if (after)
    query = query.where((row) =>
      row(row.refTuple('atMs', 'callId'), '<', row.tuple(after.atMs, after.callId)),
    )
  return query.orderBy('atMs', 'desc').orderBy('callId', 'desc').limit(filter.limit)
}

/** Finds one row by its id. */
export async function findCall(tx: ReadTx, callId: number): Promise<LoggedCall | undefined> {
  return (await tx.run(tx.build.selectFrom('calls').selectAll().where('callId', '=', callId)))[0]
}
