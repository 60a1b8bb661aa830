import { z } from 'zod'
import { cursor, cutPage, limit, packCursor, unpackCursor } from '../../http/routes/pagination.ts'
import type { ConsoleContext, ReadRoute, CsvRoute } from './route.ts'
import type { AccessRole } from '../auth/identity.ts'

/** Which part of a list: those after a place, so many of them. */
export type PageRequest<Place> = { readonly after: Place | undefined; readonly limit: number }

type ListDefinition<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Place extends z.ZodType,
> = {
  readonly path: `/${string}`
  readonly minimumRole: AccessRole
  readonly filter: z.ZodObject<Shape>
  readonly item: Item
  /** Where in the order an item stands: a page begins after a place, whatever is added before. */
  readonly position: Place
  find(
    call: ConsoleContext<z.output<z.ZodObject<Shape>>>,
    part: PageRequest<z.output<Place>>,
  ): Promise<readonly PositionedItem<z.input<Item>, z.output<Place>>[]>
}

export type PositionedItem<Item, Place> = { readonly item: Item; readonly position: Place }

const csvPageRows = 1000

/** A list that is filtered, ordered and cut by the database, a page at a time. */
export function defineList<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Place extends z.ZodType<z.core.util.JSONType>,
>(list: ListDefinition<Shape, Item, Place>) {
  const { path, minimumRole: who, filter } = list
  const query = filter.extend({ limit, cursor })
  const answer = z.object({ items: z.array(list.item), nextCursor: z.string().nullable() })
  const route: ReadRoute<typeof query, typeof answer> = {
    method: 'GET',
    path,
    minimumRole: who,
    query,
    body: z.undefined(),
    response: answer,
    handle: async (call) => {
      // Checked by the very schema that it is typed by.
      const paging = call.query as { readonly limit: number; readonly cursor?: string | undefined }
      const after = unpackCursor(paging.cursor, list.position)
      const found = await list.find(call as never, { after, limit: paging.limit + 1 })
      const { page, last } = cutPage(found, paging.limit)
      const nextCursor = last ? packCursor(last.position) : null
      return { items: page.map(({ item }) => item), nextCursor }
    },
  }
  return route
}

/** The same list as CSV, whole, under the path with `.csv`. */
export function defineCsv<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Place extends z.ZodType<z.core.util.JSONType>,
>(list: ListDefinition<Shape, Item, Place>): CsvRoute<z.ZodObject<Shape>> {
  return {
    method: 'GET',
    path: `${list.path}.csv`,
    minimumRole: list.minimumRole,
    query: list.filter,
    body: z.undefined(),
    response: z.undefined(),
    columns: Object.keys(list.item.shape),
    rows: async function* rows(call) {
      for (let after: z.output<Place> | undefined; ;) {
        const page = await list.find(call, { after, limit: csvPageRows })
        for (const { item } of page) yield item
        const last = page.at(-1)
        if (!last || page.length < csvPageRows) return
        after = last.position
      }
    },
  }
}

/** Keeps the types of a list that is served in both forms. */
export function declareList<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Place extends z.ZodType<z.core.util.JSONType>,
>(list: ListDefinition<Shape, Item, Place>): ListDefinition<Shape, Item, Place> {
  return list
}
