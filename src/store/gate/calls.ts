import type { Selectable } from 'kysely'
import { isSuccess, type DecisionOutcome } from '../../lib/observability/call-decision.ts'
import { listCountMax, toListCount } from '../../lib/limits/list-limits.ts'
import { type ReadTx, dialectOf, sql } from '../database.ts'
import type { Database, CallRow } from '../schema.ts'
import {
  countRows,
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
import { accountProjectIds } from '../tenancy/projects.ts'

export type LoggedCall = Selectable<CallRow>

/** Selects rows of the request log; a row must match all given conditions. */
export type CallFilter = TimeFilter & ListOrder<CallCursor> & CallConditions

type CallConditions = {
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
}

/** The position of a row in the log. */
export type CallCursor = Pick<LoggedCall, 'callId' | 'atMs'>

/** Finds rows of the request log in a read transaction. New rows do not shift later pages. */
export function readCalls(tx: ReadTx, filter: CallFilter): Promise<readonly LoggedCall[]> {
  return tx.run(pageOfCalls(tx.build, filter).selectAll())
}

/** Finds the same rows. SQLite reads the log in steps, so that other calls run in between. */
export async function searchCalls(source: ListSource, filter: CallFilter): Promise<LoggedCall[]> {
  return readInSteps(source, await listsOf(source, filter), {
    findEnd: findStepEnd,
    find: readCalls,
    findsFew: isOfRequest(filter),
    compare: (a, b) => a.atMs - b.atMs || a.callId - b.callId,
  })
}

/** A call and its latency. */
export type CallLatency = Pick<LoggedCall, 'callId' | 'latencyMs'>

/** Finds the latencies of the same rows, in any order. Other columns of a failure can have some kB. */
export async function searchLatencies(source: ListSource, filter: CallFilter) {
  const find = (tx: ReadTx, part: CallFilter): Promise<readonly CallLatency[]> =>
    tx.run(pageOfCalls(tx.build, part, false).select(['callId', 'latencyMs']))
  return readInSteps(source, await listsOf(source, filter), {
    findEnd: findStepEnd,
    find,
    findsFew: isOfRequest(filter),
  })
}

/** Counts the rows that a list contains, at most `listCountMax`. */
export async function countLoggedCalls(source: ListSource, filter: Omit<CallFilter, 'limit'>) {
  const counted = { ...filter, limit: listCountMax + 1 }
  return toListCount((await searchLatencies(source, counted)).length)
}

function isOfRequest({ requestId, requestIdPrefix }: CallConditions): boolean {
  return (requestId ?? requestIdPrefix) !== undefined
}

/** SQLite has no lateral joins: it reads the log of each project. */
async function listsOf(source: ListSource, filter: CallFilter): Promise<readonly CallFilter[]> {
  if (source.isShared || !spansProjects(filter)) return [filter]
  const { accountId, ...conditions } = filter
  const projects = await source.read((tx) => tx.run(accountProjectIds(tx.build, accountId)))
  return projects.map((project) => ({ ...conditions, ...project }))
}

/** Returns the position after a step; undefined at the end, and if an index finds only rows to return. */
async function findStepEnd(tx: ReadTx, filter: CallFilter): Promise<CallCursor | undefined> {
  const { fromMs, toMs, after, upTo, isAscending, ...rest } = filter
  const { limit: _, signal: _signal, ...conditions } = rest
  if (isOfRequest(filter)) return undefined
  const indexed = indexedConditions(filter)
  const names = Object.keys(conditions) as (keyof CallConditions)[]
  if (names.every((name) => filter[name] === indexed[name])) return undefined
  const page = { ...indexed, fromMs, toMs, after, upTo, isAscending, limit: 1 }
  const step = pageOfCalls(tx.build, page).select(['atMs', 'callId'])
  return (await tx.run(step.offset(stepRows - 1)))[0]
}

/** Returns the conditions of the index that finds the calls. All others are tested row by row. */
function indexedConditions(filter: CallConditions): CallConditions {
  const { keyId, projectId, action, code = 'OK', result, outcome, nearMiss } = filter
  // A key limits the rows that are read; the other indexes would read many.
  if (keyId !== undefined) return { keyId }
  if (nearMiss === true) return { projectId, nearMiss }
  if (outcome !== undefined && !isSuccess(outcome)) return { projectId, outcome }
  if (code !== 'OK') return { projectId, code }
  return result === 'failed' ? { projectId, result } : { projectId, action }
}

/** @param isSorted without it, PostgreSQL may read any calls up to the limit. */
function pageOfCalls(db: Database, filter: CallFilter, isSorted = true) {
  const { accountId, limit } = filter
  const { withoutIndex, hasLateralJoins } = dialectOf(db)
  const matching = matchingCalls(db, filter)
  const projects = accountProjectIds(db, accountId)
  if (hasLateralJoins && spansProjects(filter)) {
    // The log of all accounts can have millions of calls for each one of this account.
    const ofProject = ofEachProject(matching, filter.isAscending !== true)
    const rows = rowsOfProjects(projects, sortCalls(ofProject, filter).selectAll())
    const calls = db.selectFrom(rows.as('calls')) as typeof matching
    return isSorted ? sortCalls(calls, filter) : calls.limit(limit)
  }
  if (accountId === undefined) return sortCalls(matching, filter)
  return sortCalls(matching.where(withoutIndex('calls.projectId'), 'in', projects), filter)
}

/**
 * Whether the calls of several projects are found with the indexes of each project. Without an account
 * and a filter, the log is read in the order of time.
 */
function spansProjects(filter: CallFilter): boolean {
  const { accountId, action, code, result, outcome, nearMiss } = filter
  const few = filter.keyId ?? filter.projectId ?? filter.requestId ?? filter.requestIdPrefix
  const decided = accountId ?? action ?? code ?? result ?? outcome ?? nearMiss
  return few === undefined && decided !== undefined
}

function sortCalls(calls: ReturnType<typeof matchingCalls>, filter: CallFilter) {
  return selectPage(calls, {
    columns: ['atMs', 'callId'],
    ...pageByTime(filter, (call) => call.callId),
  })
}

function matchingCalls(db: Database, filter: CallConditions) {
  const { result, nearMiss, requestId, requestIdPrefix } = filter
  const indexed = (requestId ?? requestIdPrefix) === undefined ? indexedConditions(filter) : {}
  const conditions = { ...indexed, code: indexed.code ?? indexed.result }
  const column = (name: 'keyId' | 'projectId' | 'action' | 'code' | 'outcome' | 'nearMiss') =>
    conditions[name] === undefined ? dialectOf(db).withoutIndex(`calls.${name}`) : sql.ref(name)
  let query = db.selectFrom('calls')
  for (const name of ['projectId', 'keyId', 'action', 'code', 'outcome'] as const) {
    const value = filter[name]
    if (value !== undefined) query = query.where(column(name), '=', value)
  }
  if (result === 'ok') query = query.where('code', '=', 'OK')
  // A partial index is used only if the query contains its condition.
  if (result === 'failed' || indexed.code !== undefined)
    query = query.where(sql<boolean>`${column('code')} <> 'OK'`)
  if (indexed.outcome !== undefined)
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
