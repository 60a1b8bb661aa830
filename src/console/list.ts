import { z } from 'zod'
import { cursor, cut, limit, packCursor, unpackCursor } from '../http/routes/page.ts'
import type { ConsoleCall, ReadRoute, SheetRoute } from './route.ts'
import type { Who } from './visitor.ts'

/** Which part of a list: those after a place, so many of them. */
export type Part<Place> = { readonly after: Place | undefined; readonly limit: number }

type List<Shape extends z.ZodRawShape, Item extends z.ZodObject, Place extends z.ZodType> = {
  readonly path: `/${string}`
  readonly who: Who
  readonly filter: z.ZodObject<Shape>
  readonly item: Item
  /** Where in the order an item stands: a page begins after a place, whatever is added before. */
  readonly place: Place
  find(
    call: ConsoleCall<z.output<z.ZodObject<Shape>>>,
    part: Part<z.output<Place>>,
  ): Promise<readonly Placed<z.input<Item>, z.output<Place>>[]>
}

export type Placed<Item, Place> = { readonly item: Item; readonly place: Place }

const sheetPageRows = 1000

/** A list that is filtered, ordered and cut by the database, a page at a time. */
export function defineList<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Place extends z.ZodType<z.core.util.JSONType>,
>(list: List<Shape, Item, Place>) {
  const { path, who, filter } = list
  const query = filter.extend({ limit, cursor })
  const answer = z.object({ items: z.array(list.item), nextCursor: z.string().nullable() })
  const route: ReadRoute<typeof query, typeof answer> = {
    method: 'GET',
    path,
    who,
    query,
    body: z.undefined(),
    answer,
    handle: async (call) => {
      // Checked by the very schema that it is typed by.
      const paging = call.query as { readonly limit: number; readonly cursor?: string | undefined }
      const after = unpackCursor(paging.cursor, list.place)
      const found = await list.find(call as never, { after, limit: paging.limit + 1 })
      const { page, last } = cut(found, paging.limit)
      const nextCursor = last ? packCursor(last.place) : null
      return { items: page.map(({ item }) => item), nextCursor }
    },
  }
  return route
}

/** The same list as CSV, whole, under the path with `.csv`. */
export function defineSheet<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Place extends z.ZodType<z.core.util.JSONType>,
>(list: List<Shape, Item, Place>): SheetRoute<z.ZodObject<Shape>> {
  return {
    method: 'GET',
    path: `${list.path}.csv`,
    who: list.who,
    query: list.filter,
    body: z.undefined(),
    answer: z.undefined(),
    columns: Object.keys(list.item.shape),
    rows: async function* rows(call) {
      for (let after: z.output<Place> | undefined; ;) {
        const page = await list.find(call, { after, limit: sheetPageRows })
        for (const { item } of page) yield item
        const last = page.at(-1)
        if (!last || page.length < sheetPageRows) return
        after = last.place
      }
    },
  }
}

/** Keeps the types of a list that is served in both forms. */
export function describeList<
  Shape extends z.ZodRawShape,
  Item extends z.ZodObject,
  Place extends z.ZodType<z.core.util.JSONType>,
>(list: List<Shape, Item, Place>): List<Shape, Item, Place> {
  return list
}
