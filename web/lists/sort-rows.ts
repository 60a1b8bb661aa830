/** A value that a page sorts its rows by. An absent value precedes all others. */
type SortValue = string | number | bigint | null

/** A column that rows can be sorted by. */
export type SortableColumn<Row> = {
  readonly name: string
  /** The name of the order in the URL, with `-` if the first click sorts the largest value first. */
  readonly sort?: string
  /** Sorts the rows of a list that has only one page. Without it the server sorts. */
  readonly sortValue?: (row: Row) => SortValue
}

/** Returns the rows in the order that a column defines; unchanged if the server sorts them. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly SortableColumn<Row>[],
  sort: string | undefined,
): readonly Row[] {
  const valueOf = columns.find(
    (column) => column.sort && isSameColumn(column.sort, sort),
  )?.sortValue
  if (!valueOf) return rows
  const sign = sort?.startsWith('-') ? -1 : 1
  return rows.toSorted((a, b) => sign * compareValues(valueOf(a), valueOf(b)))
}

function compareValues(a: SortValue, b: SortValue): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null)
  if (typeof a === 'string' && typeof b === 'string') return a.localeCompare(b, 'en')
  return a < b ? -1 : a > b ? 1 : 0
}

/** Whether both names are of the same column, in any direction. */
export function isSameColumn(name: string, sort: string | undefined): boolean {
  return sort !== undefined && name.replace('-', '') === sort.replace('-', '')
}

/** Returns the order after a click on the header of a column. */
export function nextSort(name: string, sort: string | undefined): string {
  if (sort === undefined || !isSameColumn(name, sort)) return name
  return sort.startsWith('-') ? sort.slice(1) : `-${sort}`
}
