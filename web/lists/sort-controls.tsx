import { NativeSelect } from '@mantine/core'
import { isSameColumn, nextSort, type SortableColumn } from './sort-rows.ts'

type SortProps = {
  readonly sort: string | undefined
  readonly onSortChange: (sort: string) => void
}

/** The name of a column; a click sorts the list by it, a second one in the other direction. */
export function SortButton({
  name,
  column,
  sort,
  onSortChange,
}: SortProps & { readonly name: string; readonly column: string }) {
  return (
    <button type="button" className="fg-sort" onClick={() => onSortChange(nextSort(column, sort))}>
      {name}
    </button>
  )
}

/** Returns the attribute `aria-sort` of a column. */
export function ariaSort(
  column: string | undefined,
  sort: string | undefined,
): 'ascending' | 'descending' | undefined {
  if (column === undefined || sort === undefined || !isSameColumn(column, sort)) return undefined
  return sort.startsWith('-') ? 'descending' : 'ascending'
}

/** Sorts a list on a phone, where its header is hidden. */
export function SortSelect<Row>({
  columns,
  sort,
  onSortChange,
}: SortProps & { readonly columns: readonly SortableColumn<Row>[] }) {
  const options = columns.flatMap(({ name, sort: column }) =>
    column === undefined
      ? []
      : [column, nextSort(column, column)].map((value) => ({
          value,
          label: `${name}, ${value.startsWith('-') ? 'descending' : 'ascending'}`,
        })),
  )
  return (
    <NativeSelect
      className="fg-phone-only"
      size="xs"
      mb="xs"
      label="Sort by"
      data={sort === undefined ? [{ value: '', label: 'Default order' }, ...options] : options}
      value={sort ?? ''}
      onChange={(event) => onSortChange(event.currentTarget.value)}
    />
  )
}
