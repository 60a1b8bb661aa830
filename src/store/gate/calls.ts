import { sql, type Selectable } from 'kysely'
import type { Database } from '../database.ts'
import { dialectOf } from '../dialect.ts'
import type { CallRow } from '../schema.ts'
import type { ReadTx } from '../tx.ts'

export type LoggedCall = Selectable<CallRow>

/** Which rows of the request log; those given must all hold. */
export type CallFilter = {
  readonly projectId?: string | undefined
  readonly keyId?: string | undefined
  readonly action?: string | undefined
  readonly code?: string | undefined
  /** As it was sent, or in lower case. */
  readonly requestId?: string | undefined
  /** Only calls of this account's projects. */
  readonly accountId?: string | undefined
  /** From this moment on, and before that one. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** Where the page before ended. */
  readonly after?: CallCursor | undefined
  readonly limit: number
}

/** The place of a row in the log: rows are ordered by time, those of one moment by id. */
export type CallCursor = Pick<LoggedCall, 'atMs' | 'callId'>

/** Rows of the request log, the newest first. Rows that are added meanwhile shift no page. */
export function findCalls(db: Database, filter: CallFilter): Promise<LoggedCall[]> {
  return callQuery(db, filter).execute()
}

/** The same of one moment's state, beside the writer. */
export function readCalls(reading: ReadTx, filter: CallFilter): Promise<readonly LoggedCall[]> {
  return reading.run(callQuery(reading.build, filter))
}

function callQuery(db: Database, filter: CallFilter) {
  const { requestId, accountId, fromMs, toMs, after } = filter
  let query = db.selectFrom('calls').selectAll()
  for (const name of ['projectId', 'keyId', 'action', 'code'] as const) {
    const value = filter[name]
    if (value !== undefined) query = query.where(name, '=', value)
  }
  // The index of failures serves only a query that says it asks for failures.
  if (filter.code !== undefined && filter.code !== 'OK')
    query = query.where(sql<boolean>`code <> 'OK'`)
  if (requestId !== undefined)
    query = query.where('requestId', 'in', [requestId, requestId.toLowerCase()])
  // The projects' index stays out of it: rows come in the order of time.
  if (accountId !== undefined) {
    const own = db.selectFrom('projects').select('projectId').where('accountId', '=', accountId)
    query = query.where(dialectOf(db).withoutIndex('calls.projectId'), 'in', own)
  }
  if (fromMs !== undefined) query = query.where('atMs', '>=', fromMs)
  if (toMs !== undefined) query = query.where('atMs', '<', toMs)
  if (after)
    query = query.where((row) =>
      row(row.refTuple('atMs', 'callId'), '<', row.tuple(after.atMs, after.callId)),
    )
  return query.orderBy('atMs', 'desc').orderBy('callId', 'desc').limit(filter.limit)
}

/** One row by its id. */
export async function findCall(reading: ReadTx, callId: number): Promise<LoggedCall | undefined> {
  return (
    await reading.run(reading.build.selectFrom('calls').selectAll().where('callId', '=', callId))
  )[0]
}
