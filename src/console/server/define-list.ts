import { z } from 'zod'
import { invalidRequest } from '../../lib/errors.ts'
import type { ListCount } from '../../lib/limits/list-limits.ts'
import {
  cursor,
  cutPage,
  limit,
  packCursor,
  toTotal,
  total,
  totalFields,
  unpackCursor,
} from '../../http/routes/pagination.ts'
import {
  defineRead,
  readDefaults,
  type ConsoleContext,
  type CsvRoute,
  type RoutePath,
} from './console-route.ts'
import { type RequestedTimes, resolveTimeRange } from './input.ts'

/** The part of a list to read: at most `limit` items after a position. */
export type PageRequest<Position, SortBy extends string = string> = {
  readonly after: Position | undefined
  readonly limit: number
  readonly sort: ListSort<SortBy>
  /** Runs a read. The pages of a download run only the first one, and receive its result. */
  readonly once: <Result>(read: () => Promise<Result>) => Promise<Result>
}

type ListSort<SortBy extends string> = {
  readonly by: SortBy
  readonly isDescending: boolean
}

type ListDefinition<
  Path extends RoutePath,
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Position extends z.ZodType,
  SortBy extends string,
> = {
  readonly path: Path
  readonly filter: z.ZodObject<Shape>
  readonly item: Item
  /** The columns that the list can be sorted by. The first one is the default. */
  readonly sortBy: readonly [SortBy, ...SortBy[]]
  /** The direction without a parameter `sort`. */
  readonly isDescending: boolean
  /**
   * The sort key of an item: the value of the column and an id. A page starts after a position, so new
   * items do not shift pages.
   */
  readonly position: Position
  find(
    call: ConsoleContext<z.output<z.ZodObject<Shape>>>,
    page: PageRequest<z.output<Position>, SortBy>,
  ): Promise<readonly ListedItem<z.input<Item>, z.output<Position>>[]>
  /** Counts the items on all pages, up to a limit. */
  count?(call: ConsoleContext<z.output<z.ZodObject<Shape>>>): Promise<ListCount>
}

/** An item at its position; undefined if it has ended since its position was read. */
type ListedItem<Item, Position> = { readonly item: Item | undefined; readonly position: Position }

type Paging = {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly sort: string
  readonly total: 'true' | 'false'
}

/** The rows that a download reads and formats at once: about 5 ms of the request log. */
export const csvPageRows = 100

/** A list of any schema. The query schema of its routes has validated what its functions receive. */
type AnyList = ListDefinition<
  RoutePath,
  z.ZodRawShape,
  z.ZodObject,
  z.ZodType<z.core.util.JSONType>,
  string
>

/**
 * Defines a list that the database filters, sorts and pages: the route of its pages, and the route of
 * the whole list as CSV, which has the same path with `.csv`. Every role can read it.
 */
export function defineList<
  const Path extends RoutePath,
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Position extends z.ZodType<z.core.util.JSONType>,
  SortBy extends string,
>(list: ListDefinition<Path, Shape, Item, Position, SortBy>) {
  const query = list.filter.extend({ limit, cursor, total, sort: sortParameter(list) })
  const response = z.object({
    items: z.array(list.item),
    nextCursor: z.string().nullable(),
    previousCursor: z.string().nullable(),
    ...totalFields,
  })
  const anyList = list as unknown as AnyList
  const pages = defineRead(list.path, {
    query,
    response,
    isLong: true,
    handle: async (call) => (await readPage(anyList, call as ConsoleContext<Paging>)) as never,
  })
  return { list, pages, csv: csvRouteOf(anyList) }
}

/** The name of a column, with `-` for the largest value first. */
function sortParameter({ sortBy, isDescending }: Pick<AnyList, 'sortBy' | 'isDescending'>) {
  const names = sortBy.flatMap((name) => [name, `-${name}`])
  return z.enum(names).default(isDescending ? `-${sortBy[0]}` : sortBy[0])
}

function parseSort(text: string): ListSort<string> {
  const isDescending = text.startsWith('-')
  return { by: text.slice(isDescending ? 1 : 0), isDescending }
}

/** Runs a read in the queue of the account, apart from the reads of its keys, in turn with other users. */
export function queueRead<T>(call: ConsoleContext, read: () => Promise<T>): Promise<T> {
  const { services, identity, request } = call
  const turn = { owner: identity.userId ?? 'anonymous', signal: request.signal }
  return services.queueRead(`console ${identity.accountId}`, read, turn)
}

/** Reads a page that starts after the position of the cursor, or ends before it. */
async function readPage(list: AnyList, call: ConsoleContext<Paging>) {
  const { sort, cursor, limit: rows, total } = call.query
  const { position } = list
  const start = unpackCursor(
    cursor,
    z.strictObject({ sort: z.string(), isBefore: z.boolean(), position }),
  )
  if (start && start.sort !== sort)
    throw invalidRequest('cursor: must be a cursor of a response with the same `sort`')
  const { by, isDescending } = parseSort(sort)
  const isBefore = start?.isBefore === true
  const found = await list.find(call, {
    after: start?.position,
    limit: rows + 1,
    // The page before a position is read in the opposite order.
    sort: { by, isDescending: isDescending !== isBefore },
    once: (read) => read(),
  })
  const { page, last } = cutPage(found, rows)
  const items = isBefore ? page.toReversed() : page
  const hasPrevious = isBefore ? last !== undefined : start !== undefined
  const hasNext = isBefore || last !== undefined
  const cursorAt = (end: (typeof items)[number] | undefined, isBefore: boolean) =>
    end ? packCursor({ sort, isBefore, position: end.position }) : null
  const counted = total === 'true' && (await list.count?.(call))
  return {
    items: items.flatMap(({ item }) => item ?? []),
    nextCursor: hasNext ? cursorAt(items.at(-1), false) : null,
    previousCursor: hasPrevious ? cursorAt(items[0], true) : null,
    ...(counted && toTotal(counted)),
  }
}

/** The same list as CSV: the rows of all pages. */
function csvRouteOf(list: AnyList): CsvRoute {
  return {
    ...readDefaults,
    path: `${list.path}.csv`,
    query: list.filter.extend({ sort: sortParameter(list) }),
    response: z.undefined(),
    columns: Object.keys(list.item.shape),
    rows: async function* rows(received) {
      const call = received as ConsoleContext<Paging>
      const sort = parseSort(call.query.sort)
      let first: Promise<unknown> | undefined
      // The pages of a list run the same read.
      const once = <Result>(read: () => Promise<Result>) => (first ??= read()) as Promise<Result>
      for (let after: z.core.util.JSONType | undefined; ;) {
        const request = { after, limit: csvPageRows, sort, once }
        const page = await queueRead(call, () => list.find(call, request))
        for (const { item } of page) if (item) yield item
        const last = page.at(-1)
        if (!last || page.length < csvPageRows) return
        after = last.position
      }
    },
  }
}

/** Returns the conditions of a list in its query, for the account of the user. */
export function listFilter<Query extends RequestedTimes>(call: ConsoleContext<Query>) {
  const { fromUtc, toUtc } = resolveTimeRange(call.query, call.services.clock())
  const times = { fromMs: fromUtc?.getTime(), toMs: toUtc?.getTime() }
  return { ...call.query, ...times, accountId: call.identity.accountId }
}
