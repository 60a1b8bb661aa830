import { sql, type Selectable } from 'kysely'
import type { Database } from './database.ts'
import type { CallRow } from './schema.ts'

export type Call = Selectable<CallRow>

/** Which rows of the request log; those given must all hold. */
export type CallFilter = {
  readonly projectId?: string | undefined
  readonly keyId?: string | undefined
  readonly action?: string | undefined
  readonly code?: string | undefined
  /** From this moment on, and before that one. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** Where the page before ended. */
  readonly after?: CallPlace | undefined
  readonly limit: number
}

/** The place of a row in the log: rows are ordered by time, those of one moment by id. */
export type CallPlace = Pick<Call, 'atMs' | 'callId'>

/** Rows of the request log, the newest first. Rows that are added meanwhile shift no page. */
export function findCalls(db: Database, filter: CallFilter): Promise<Call[]> {
  const { fromMs, toMs, after } = filter
  let query = db.selectFrom('calls').selectAll()
  for (const name of ['projectId', 'keyId', 'action', 'code'] as const) {
    const value = filter[name]
    if (value !== undefined) query = query.where(name, '=', value)
  }
  // The index of failures serves only a query that says it asks for failures.
  if (filter.code !== undefined && filter.code !== 'OK')
    query = query.where(sql<boolean>`code <> 'OK'`)
  if (fromMs !== undefined) query = query.where('atMs', '>=', fromMs)
  if (toMs !== undefined) query = query.where('atMs', '<', toMs)
  if (after)
    query = query.where((row) =>
      row(row.refTuple('atMs', 'callId'), '<', row.tuple(after.atMs, after.callId)),
    )
  return query.orderBy('atMs', 'desc').orderBy('callId', 'desc').limit(filter.limit).execute()
}
