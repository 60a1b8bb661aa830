import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Expression, RawBuilder, SelectQueryBuilder, SqlBool } from 'kysely'
import { listCountMax, toListCount, type ListCount } from '../lib/limits/list-limits.ts'
import { type ReadTx, type Store, sql } from './database.ts'

/** Counts the rows of a query, which selects any column. */
export async function countRows<Tables, Name extends keyof Tables, Row>(
  tx: ReadTx,
  rows: SelectQueryBuilder<Tables, Name, Row>,
): Promise<number> {
  const counted = tx.build.selectFrom(rows.as('counted'))
  const query = counted.select(({ fn }) => fn.countAll<number>().as('count'))
  return (await tx.run(query))[0]?.count ?? 0
}

/** Counts the rows of a list, at most `listCountMax`. */
export async function countListed<Tables, Name extends keyof Tables, Row>(
  tx: ReadTx,
  rows: SelectQueryBuilder<Tables, Name, Row>,
): Promise<ListCount> {
  return toListCount(await countRows(tx, rows.limit(listCountMax + 1)))
}

/** The order of a list and the page to read. */
export type ListOrder<Position> = {
  /** The oldest first; by default the newest. */
  readonly isAscending?: boolean | undefined
  /** The last row of the previous page. */
  readonly after?: Position | undefined
  /** The last row to read; undefined: the end of the list. */
  readonly upTo?: Position | undefined
  readonly limit: number
  /** Ends a search in steps with the reason of its abort. */
  readonly signal?: AbortSignal | undefined
}

/** Times `>= fromMs` and `< toMs`. */
export type TimeFilter = {
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

/** Yields all rows of a list. @param pageAfter reads the page after a row, or the first page. */
export async function* readPages<Row>(
  pageAfter: (last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  let page = await pageAfter(undefined)
  for (; page.length > 0; page = await pageAfter(page.at(-1))) yield* page
}

type ListPage<Value extends string | number> = {
  /** The column of the order, and the id that orders rows with equal values. */
  readonly columns: readonly [order: string | RawBuilder<unknown>, id: string]
  /** The values of the first column: from the first, before the second. */
  readonly from?: Value | undefined
  readonly to?: Value | undefined
  /** The values of these columns in the last row of the previous page. */
  readonly after?: readonly [order: Value, id: string | number] | undefined
  /** Their values in the last row to read; undefined: the end of the list. */
  readonly upTo?: ListPage<Value>['after']
  readonly isDescending: boolean
  /** By default all rows. */
  readonly limit?: number | undefined
}

/**
 * Selects a page of a list: rows in its order, after the last row of the previous page. Each end has one
 * condition: SQLite reads an index from or up to one of them only, and tests any other row by row.
 */
export function selectPage<Tables, Name extends keyof Tables, Row, Value extends string | number>(
  rows: SelectQueryBuilder<Tables, Name, Row>,
  { columns, from, to, after, upTo, isDescending, limit }: ListPage<Value>,
): SelectQueryBuilder<Tables, Name, Row> {
  const order = typeof columns[0] === 'string' ? sql.ref(columns[0]) : columns[0]
  const id = sql.ref(columns[1])
  const beyond = (operator: string, [value, rowId]: readonly unknown[]) =>
    sql<SqlBool>`(${order}, ${id}) ${sql.raw(operator)} (${value}, ${rowId})`
  const [start, end] = isDescending ? [upTo, after] : [after, upTo]
  const [above, below] = isDescending ? ['>=', '<'] : ['>', '<=']
  const first = from !== undefined && start && start[0] < from ? undefined : start
  const last = to !== undefined && end && end[0] >= to ? undefined : end
  let page = whereBetween(rows, order, {
    from: first ? undefined : from,
    to: last ? undefined : to,
  })
  if (first) page = page.where(beyond(above, first))
  if (last) page = page.where(beyond(below, last))
  const direction = isDescending ? 'desc' : 'asc'
  const ordered = page.orderBy(order, direction).orderBy(id, direction)
  return limit === undefined ? ordered : ordered.limit(limit)
}

/** Returns the options of a page in the order of time. @param idOf the id that follows the time. */
export function pageByTime<Position extends { readonly atMs: number }>(
  { fromMs, toMs, isAscending, after, upTo, limit }: TimeFilter & ListOrder<Position>,
  idOf: (position: Position) => number,
) {
  const values = (row: Position | undefined) => row && ([row.atMs, idOf(row)] as const)
  const ends = { from: fromMs, to: toMs, after: values(after), upTo: values(upTo) }
  return { ...ends, isDescending: isAscending !== true, limit }
}

/** Selects rows of each of these projects on PostgreSQL. @param rows rows `ofEachProject`. */
export function rowsOfProjects(projects: Expression<unknown>, rows: Expression<unknown>) {
  return sql`(select c.* from ${projects} p cross join lateral ${rows} c)`
}

/** Limits rows to those of a project. Only an index of projects has this order, none by time alone. */
export function ofEachProject<Tables, Name extends keyof Tables, Row>(
  rows: SelectQueryBuilder<Tables, Name, Row>,
  isDescending: boolean,
): SelectQueryBuilder<Tables, Name, Row> {
  const ofProject = rows.where(sql<SqlBool>`"projectId" = any (array[p."projectId"])`)
  return ofProject.orderBy(sql`"projectId"`, isDescending ? 'desc' : 'asc')
}

type Range = { readonly from?: unknown; readonly to?: unknown }

/** Adds the conditions that the values of a column are at least `from` and less than `to`. */
export function whereBetween<Tables, Name extends keyof Tables, Row>(
  rows: SelectQueryBuilder<Tables, Name, Row>,
  column: RawBuilder<unknown>,
  { from, to }: Range,
): SelectQueryBuilder<Tables, Name, Row> {
  const above = from === undefined ? rows : rows.where(sql<SqlBool>`${column} >= ${from}`)
  return to === undefined ? above : above.where(sql<SqlBool>`${column} < ${to}`)
}

/** A database that a list is read from. */
export type ListSource = Pick<Store, 'read' | 'isShared'>

/**
 * Rows that one step of SQLite compares. It blocks the event loop for some milliseconds meanwhile, and
 * for 300 ms if no row of a million matches. PostgreSQL does not block it, and needs one step.
 */
export const stepRows = 5000

type ListSteps<Filter extends ListOrder<unknown>, Row> = {
  /** Returns the position after a step; undefined at the end, and if an index finds few rows. */
  readonly findEnd: (tx: ReadTx, filter: Filter) => Promise<Filter['after']>
  /** Finds the matching rows of a step. */
  readonly find: (tx: ReadTx, filter: Filter) => Promise<readonly Row[]>
  /** Whether an index without the order of the list finds few rows, which PostgreSQL then sorts. */
  readonly findsFew?: boolean | undefined
  /** The ascending order of positions in several lists. Without it, any rows up to the limit are found. */
  readonly compare?: ((a: NonNullable<Filter['after']> | Row, b: typeof a) => number) | undefined
}

/**
 * Finds at most `limit` rows of lists with one order in steps. Each step is a separate read: calls run in
 * between. It reads the list that was read least far, and none beyond the end of a full page.
 */
export async function readInSteps<Filter extends ListOrder<unknown>, Row>(
  { read, isShared }: ListSource,
  lists: readonly Filter[],
  { findEnd, find, findsFew, compare }: ListSteps<Filter, Row>,
): Promise<Row[]> {
  const found: Row[] = []
  const waiting = [...lists]
  for (let list = waiting.shift(); list; list = waiting.shift()) {
    const { isAscending, after, limit, signal } = list
    const order: typeof compare = compare && ((a, b) => (isAscending ? 1 : -1) * compare(a, b))
    const last = found[limit - 1]
    if (last && (!order || (after && order(after, last) >= 0))) break
    const part = { ...list, upTo: last, limit: order ? limit : limit - found.length }
    const { end, rows } = await read(async (tx) => {
      if (isShared && !findsFew) await setLocalSettings(tx, orderedPlans)
      const upTo = isShared ? undefined : await findEnd(tx, part)
      return { end: upTo, rows: await find(tx, { ...part, upTo: upTo ?? last }) }
    })
    found.push(...rows)
    if (order) found.sort(order).splice(limit)
    if (end) waiting.push({ ...list, after: end })
    if (end && order) waiting.sort((a, b) => (a.after && b.after ? order(a.after, b.after) : 0))
    if (waiting.length > 0) await nextTurn()
    signal?.throwIfAborted()
  }
  return found
}

/** PostgreSQL estimates few rows of a large account: it would read and sort all of them for a page. */
const orderedPlans = { enable_bitmapscan: 'off', enable_sort: 'off', jit: 'off' }

/** Changes settings of PostgreSQL for a transaction. */
export async function setLocalSettings(tx: ReadTx, settings: Readonly<Record<string, string>>) {
  const calls = Object.entries(settings).map(([name, value], index) =>
    sql<string>`set_config(${name}, ${value}, true)`.as(`set${index}`),
  )
  await tx.run(tx.build.selectNoFrom(calls))
}
