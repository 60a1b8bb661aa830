import { z } from 'zod'
import { ActionError } from '../../lib/errors.ts'
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
import type { ConsoleContext, ReadRoute, CsvRoute } from './route.ts'
import type { AccessRole } from '../auth/identity.ts'

/** The part of a list to read: at most `limit` items after a position. */
export type PageRequest<Position, SortBy extends string = string> = {
  readonly after: Position | undefined
  readonly limit: number
  readonly sort: ListSort<SortBy>
}

export type ListSort<SortBy extends string> = {
  readonly by: SortBy
  readonly isDescending: boolean
}

type ListDefinition<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Position extends z.ZodType,
  SortBy extends string,
> = {
  readonly path: `/${string}`
  readonly minimumRole: AccessRole
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
  ): Promise<readonly PositionedItem<z.input<Item>, z.output<Position>>[]>
  /** Counts the items on all pages, up to a limit. */
  count?(call: ConsoleContext<z.output<z.ZodObject<Shape>>>): Promise<ListCount>
}

export type PositionedItem<Item, Position> = { readonly item: Item; readonly position: Position }

type Paging = {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly sort: string
  readonly total: 'true' | 'false'
}

const csvPageRows = 1000

/** Defines the JSON route of a list that the database filters, sorts and pages. */
export function defineList<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Position extends z.ZodType<z.core.util.JSONType>,
  SortBy extends string,
>(list: ListDefinition<Shape, Item, Position, SortBy>) {
  const { path, minimumRole, filter } = list
  const query = filter.extend({ limit, cursor, total, sort: sortParameter(list) })
  const response = z.object({
    items: z.array(list.item),
    nextCursor: z.string().nullable(),
    previousCursor: z.string().nullable(),
    ...totalFields,
  })
  const route: ReadRoute<typeof query, typeof response> = {
    method: 'GET',
    path,
    minimumRole,
    query,
    body: z.undefined(),
    response,
    handle: async (call) => {
      // The schema of this type has validated the query.
      const paging = call.query as Paging
      const page = await readPage(list, call as never, paging)
      const counted = paging.total === 'true' && (await list.count?.(call as never))
      return { ...page, ...(counted && toTotal(counted)) }
    },
  }
  return route
}

/** The name of a column, with `-` for the largest value first. */
function sortParameter<SortBy extends string>({
  sortBy,
  isDescending,
}: {
  readonly sortBy: readonly [SortBy, ...SortBy[]]
  readonly isDescending: boolean
}) {
  const names = sortBy.flatMap((name) => [name, `-${name}`])
  return z.enum(names).default(isDescending ? `-${sortBy[0]}` : sortBy[0])
}

function parseSort<SortBy extends string>(text: string): ListSort<SortBy> {
  const isDescending = text.startsWith('-')
  // The query schema permits only the names of the list.
  return { by: text.slice(isDescending ? 1 : 0) as SortBy, isDescending }
}

type PageStart<Position> = {
  readonly sort: string
  readonly isBefore: boolean
  readonly position: Position
}

/** A page starts after the position, or ends before it. The sort order must be the same. */
function cursorOf<Position extends z.ZodType>(position: Position) {
  return z.strictObject({ sort: z.string(), isBefore: z.boolean(), position })
}

async function readPage<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Position extends z.ZodType<z.core.util.JSONType>,
  SortBy extends string,
>(
  list: ListDefinition<Shape, Item, Position, SortBy>,
  call: ConsoleContext<z.output<z.ZodObject<Shape>>>,
  { sort, cursor: text, limit: rows }: Paging,
) {
  // The compiler does not resolve the output of a schema with a generic part.
  const start = unpackCursor(text, cursorOf(list.position)) as
    | PageStart<z.output<Position>>
    | undefined
  if (start && start.sort !== sort)
    throw new ActionError(
      'INVALID_REQUEST',
      'cursor: must be a cursor of a response with the same `sort`',
    )
  const { by, isDescending } = parseSort<SortBy>(sort)
  const isBefore = start?.isBefore === true
  const found = await list.find(call, {
    after: start?.position,
    limit: rows + 1,
    // The page before a position is read in the opposite order.
    sort: { by, isDescending: isDescending !== isBefore },
  })
  const { page, last } = cutPage(found, rows)
  const items = isBefore ? page.toReversed() : page
  const hasPrevious = isBefore ? last !== undefined : start !== undefined
  const hasNext = isBefore || last !== undefined
  return {
    items: items.map(({ item }) => item),
    nextCursor: hasNext ? pageCursor(items.at(-1), { sort, isBefore: false }) : null,
    previousCursor: hasPrevious ? pageCursor(items[0], { sort, isBefore: true }) : null,
  }
}

function pageCursor(
  end: PositionedItem<unknown, z.core.util.JSONType> | undefined,
  order: { readonly sort: string; readonly isBefore: boolean },
): string | null {
  return end ? packCursor({ ...order, position: end.position }) : null
}

/** Defines the CSV route of the same list: all pages, under the list's path with `.csv`. */
export function defineCsv<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Position extends z.ZodType<z.core.util.JSONType>,
  SortBy extends string,
>(list: ListDefinition<Shape, Item, Position, SortBy>): CsvRoute {
  const query = list.filter.extend({ sort: sortParameter(list) })
  return {
    method: 'GET',
    path: `${list.path}.csv`,
    minimumRole: list.minimumRole,
    query,
    body: z.undefined(),
    response: z.undefined(),
    columns: Object.keys(list.item.shape),
    rows: async function* rows(call) {
      // The schema of this type has validated the query.
      const sort = parseSort<SortBy>((call.query as Paging).sort)
      for (let after: z.output<Position> | undefined; ;) {
        const page = await list.find(call as never, { after, limit: csvPageRows, sort })
        for (const { item } of page) yield item
        const last = page.at(-1)
        if (!last || page.length < csvPageRows) return
        after = last.position
      }
    },
  }
}

/** Keeps the types of a list that is served as JSON and as CSV. */
export function declareList<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Position extends z.ZodType<z.core.util.JSONType>,
  SortBy extends string,
>(
  list: ListDefinition<Shape, Item, Position, SortBy>,
): ListDefinition<Shape, Item, Position, SortBy> {
  return list
}
