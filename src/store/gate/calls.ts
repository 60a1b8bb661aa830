import type { Selectable } from 'kysely'
import { isSuccess, type DecisionOutcome } from '../../lib/observability/call-decision.ts'
import { type ReadTx, dialectOf, sql } from '../database.ts'
import type { Database, CallRow } from '../schema.ts'
import {
  countInSteps,
  countRows,
  ofEachProject,
  pageByTime,
  readInSteps,
  rowsOfProjects,
  selectPage,
  stepRows,
  type ListSource,
  type TimeFilter,
} from '../lists.ts'
import { accountProjectIds } from '../tenancy/projects.ts'

export type LoggedCall = Selectable<CallRow>

/** Selects rows of the request log; a row must match all given conditions. */
export type CallFilter = TimeFilter & {
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
  /** By default the newest first. */
  readonly sort?: CallSort | undefined
  /** The last row of the previous page. */
  readonly after?: CallCursor | undefined
  /** The last row to read; undefined: the end of the log. */
  readonly upTo?: CallCursor | undefined
  readonly limit: number
}

/** The order of rows by time; rows of one millisecond are ordered by their ids. */
export type CallSort = { readonly isDescending: boolean }

const newestFirst: CallSort = { isDescending: true }

/** The position of a row in the log. */
export type CallCursor = Pick<LoggedCall, 'callId' | 'atMs'>

/** Finds rows of the request log, by default the newest first. New rows do not shift later pages. */
export function findCalls(db: Database, filter: CallFilter): Promise<LoggedCall[]> {
  return pageOfCalls(db, filter).selectAll().execute()
}

/** Does the same in a read transaction. */
export function readCalls(tx: ReadTx, filter: CallFilter): Promise<readonly LoggedCall[]> {
  return tx.run(pageOfCalls(tx.build, filter).selectAll())
}

/** Finds the same rows. SQLite reads the log in steps, so that other calls run in between. */
export function searchCalls(source: ListSource, filter: CallFilter): Promise<LoggedCall[]> {
  return readInSteps(source, filter, { findEnd: findStepEnd, find: readCalls })
}

/** A call and its latency. */
export type CallLatency = Pick<LoggedCall, 'callId' | 'latencyMs'>

/** Finds the latencies of the same rows. The other columns of a failure can have some kB. */
export function searchLatencies(source: ListSource, filter: CallFilter): Promise<CallLatency[]> {
  return readInSteps(source, filter, { findEnd: findStepEnd, find: findLatencies })
}

/** Counts the rows that a list contains, at most `listCountMax`. */
export function countLoggedCalls(source: ListSource, filter: Omit<CallFilter, 'limit'>) {
  return countInSteps(source, filter, { findEnd: findStepEnd, find: findLatencies })
}

function findLatencies(tx: ReadTx, part: CallFilter): Promise<readonly CallLatency[]> {
  return tx.run(pageOfCalls(tx.build, part, false).select(['callId', 'latencyMs']))
}

/** Returns the position after a step; undefined at the end, and if an index finds few rows. */
async function findStepEnd(tx: ReadTx, filter: CallFilter): Promise<CallCursor | undefined> {
  const { keyId, projectId, requestId, requestIdPrefix, fromMs, toMs, after, sort } = filter
  if ((requestId ?? requestIdPrefix) !== undefined) return undefined
  const indexed = keyId === undefined ? { projectId } : { keyId }
  const step = pageOfCalls(tx.build, { ...indexed, fromMs, toMs, after, sort, limit: 1 })
  return (await tx.run(step.select(['atMs', 'callId']).offset(stepRows - 1)))[0]
}

/** @param isSorted without it, PostgreSQL may read any calls up to the limit. */
function pageOfCalls(db: Database, filter: CallFilter, isSorted = true) {
  const { accountId, limit, sort = newestFirst } = filter
  const { withoutIndex, hasLateralJoins } = dialectOf(db)
  const matching = matchingCalls(db, filter)
  if (accountId === undefined) return sortCalls(matching, filter)
  const projects = accountProjectIds(db, accountId)
  // SQLite must not use the index on projects: rows are read in the order of time.
  if (isSelective(filter) || !hasLateralJoins)
    return sortCalls(matching.where(withoutIndex('calls.projectId'), 'in', projects), filter)
  // The log of all accounts can have millions of calls for each one of this account.
  const ofProject = ofEachProject(matching, sort.isDescending)
  const rows = rowsOfProjects(projects, sortCalls(ofProject, filter).selectAll())
  const calls = db.selectFrom(rows.as('calls')) as typeof matching
  return isSorted ? sortCalls(calls, filter) : calls.limit(limit)
}

/** Whether an index has few calls for the filter: those of a key, a project or a request, or failures. */
function isSelective({ result, code = 'OK', outcome, nearMiss, ...filter }: CallFilter): boolean {
  const indexed = filter.keyId ?? filter.projectId ?? filter.requestId ?? filter.requestIdPrefix
  const isUnsuccessful = outcome !== undefined && !isSuccess(outcome)
  const isFailure = result === 'failed' || code !== 'OK' || isUnsuccessful
  return indexed !== undefined || isFailure || nearMiss === true
}

function sortCalls(calls: ReturnType<typeof matchingCalls>, filter: CallFilter) {
  const { isDescending } = filter.sort ?? newestFirst
  return selectPage(calls, {
    columns: ['atMs', 'callId'],
    ...pageByTime({ ...filter, isAscending: !isDescending }, (call) => call.callId),
  })
}

function matchingCalls(db: Database, filter: Omit<CallFilter, 'after' | 'limit' | 'sort'>) {
  const { result, outcome, nearMiss, requestId, requestIdPrefix } = filter
  // A key, a project or a prefix limits the rows that are read; the other indexes would read many.
  const names = ['keyId', 'projectId'] as const
  const indexed =
    requestIdPrefix === undefined ? names.find((name) => filter[name] !== undefined) : 'requestId'
  const column = (name: 'keyId' | 'projectId' | 'action' | 'code' | 'outcome' | 'nearMiss') =>
    indexed === undefined || indexed === name
      ? sql.ref(name)
      : dialectOf(db).withoutIndex(`calls.${name}`)
  let query = db.selectFrom('calls')
  for (const name of ['projectId', 'keyId', 'action', 'code', 'outcome'] as const) {
    const value = filter[name]
    if (value !== undefined) query = query.where(column(name), '=', value)
  }
  if (result === 'ok') query = query.where('code', '=', 'OK')
  // The partial indexes of failures are used only if the query contains their condition.
  const isFailure = filter.code !== undefined && filter.code !== 'OK'
  if (result === 'failed' || (isFailure && indexed === undefined))
    query = query.where(sql<boolean>`${column('code')} <> 'OK'`)
  if (outcome !== undefined && !isSuccess(outcome) && indexed === undefined)
    query = query.where(sql<boolean>`outcome not in ('match', 'live', 'passed')`)
  if (nearMiss !== undefined)
    query = query.where(sql<boolean>`${column('nearMiss')} = ${sql.lit(nearMiss ? 1 : 0)}`)
  if (requestId !== undefined)
    query = query.where('requestId', 'in', [requestId, requestId.toLowerCase()])
  if (requestIdPrefix !== undefined)
    query = query.where('callId', 'in', callsByPrefix(db, requestIdPrefix).select('callId'))
  return query
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
  return (await findCallsById(tx, [callId]))[0]
}

/** Finds rows by their ids, in any order. Rows that were deleted are not among them. */
export function findCallsById(tx: ReadTx, callIds: readonly number[]) {
  return tx.run(tx.build.selectFrom('calls').selectAll().where('callId', 'in', callIds))
}
