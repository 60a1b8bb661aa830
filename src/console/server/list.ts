import { z } from 'zod'
import { cursor, cutPage, limit, packCursor, unpackCursor } from '../../http/routes/pagination.ts'
import type { ConsoleContext, ReadRoute, CsvRoute } from './route.ts'
import type { AccessRole } from '../auth/identity.ts'

/** The part of a list to read: at most `limit` items after a position. */
export type PageRequest<Position> = {
  readonly after: Position | undefined
  readonly limit: number
}

type ListDefinition<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Position extends z.ZodType,
> = {
  readonly path: `/${string}`
  readonly minimumRole: AccessRole
  readonly filter: z.ZodObject<Shape>
  readonly item: Item
  /** The sort key of an item. A page starts after a position, so new items do not shift pages. */
  readonly position: Position
  find(
    call: ConsoleContext<z.output<z.ZodObject<Shape>>>,
    page: PageRequest<z.output<Position>>,
  ): Promise<readonly PositionedItem<z.input<Item>, z.output<Position>>[]>
}

export type PositionedItem<Item, Position> = { readonly item: Item; readonly position: Position }

const csvPageRows = 1000

/** Defines the JSON route of a list that the database filters, sorts and pages. */
export function defineList<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Position extends z.ZodType<z.core.util.JSONType>,
>(list: ListDefinition<Shape, Item, Position>) {
  const { path, minimumRole, filter } = list
  const query = filter.extend({ limit, cursor })
  const response = z.object({ items: z.array(list.item), nextCursor: z.string().nullable() })
  const route: ReadRoute<typeof query, typeof response> = {
    method: 'GET',
    path,
    minimumRole,
    query,
    body: z.undefined(),
    response,
    handle: async (call) => {
      // The schema of this type has validated the query.
      const paging = call.query as { readonly limit: number; readonly cursor?: string | undefined }
      const after = unpackCursor(paging.cursor, list.position)
      const items = await list.find(call as never, { after, limit: paging.limit + 1 })
      const { page, last } = cutPage(items, paging.limit)
      const nextCursor = last ? packCursor(last.position) : null
      return { items: page.map(({ item }) => item), nextCursor }
    },
  }
  return route
}

/** Defines the CSV route of the same list: all pages, under the list's path with `.csv`. */
export function defineCsv<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Position extends z.ZodType<z.core.util.JSONType>,
>(list: ListDefinition<Shape, Item, Position>): CsvRoute<z.ZodObject<Shape>> {
  return {
    method: 'GET',
    path: `${list.path}.csv`,
    minimumRole: list.minimumRole,
    query: list.filter,
    body: z.undefined(),
    response: z.undefined(),
    columns: Object.keys(list.item.shape),
    rows: async function* rows(call) {
      for (let after: z.output<Position> | undefined; ;) {
        const page = await list.find(call, { after, limit: csvPageRows })
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
>(list: ListDefinition<Shape, Item, Position>): ListDefinition<Shape, Item, Position> {
  return list
}
