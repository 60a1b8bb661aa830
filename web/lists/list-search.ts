import type { ListTotal } from './pager.tsx'

/** The state of a list that the URL contains, beside its filters. */
type ListSearch = {
  readonly cursor?: string | undefined
  readonly sort?: string | undefined
  readonly limit?: string | undefined
}

/** Returns the properties of ListPanel from the URL. Another order or page size opens the first page. */
export function listSearch(
  { cursor, sort, limit }: ListSearch,
  update: (change: ListSearch) => void,
) {
  return {
    cursor,
    sort,
    limit,
    onCursorChange: (next: string | undefined) => update({ cursor: next }),
    onSortChange: (next: string) => update({ sort: next, cursor: undefined }),
    onLimitChange: (next: string) => update({ limit: next, cursor: undefined }),
  }
}

/** The query parameters that return the number of rows on all pages, and only one row. */
export const countOnly = { total: true, limit: 1 } as const

/** Returns the number of rows; undefined while it is that of other filters. */
export function totalOf(query: {
  readonly data: ListTotal | undefined
  readonly isPlaceholderData: boolean
}): ListTotal | undefined {
  return query.isPlaceholderData ? undefined : query.data
}
