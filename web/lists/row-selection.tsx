import './row-selection.css'

/** The rows of a list that the user has ticked. */
export type RowSelection<Row> = {
  readonly isSelected: (row: Row) => boolean
  readonly onChange: (rows: readonly Row[], isSelected: boolean) => void
  readonly labelOf: (row: Row) => string
}

type SelectAllProps<Row> = { readonly selection: RowSelection<Row>; readonly rows: readonly Row[] }

/** The header cell of the selection: ticks all rows of the page. */
export function SelectAllCell<Row>({ selection, rows }: SelectAllProps<Row>) {
  const count = rows.filter((row) => selection.isSelected(row)).length
  return (
    <th scope="col">
      <input
        type="checkbox"
        className="fg-tick"
        aria-label="Select all rows of this page"
        checked={count === rows.length}
        ref={(input) => {
          if (input) input.indeterminate = count > 0 && count < rows.length
        }}
        onChange={(event) => selection.onChange(rows, event.currentTarget.checked)}
      />
    </th>
  )
}

type SelectProps<Row> = { readonly selection: RowSelection<Row>; readonly row: Row }

/** The cell that ticks one row. */
export function SelectCell<Row>({ selection, row }: SelectProps<Row>) {
  return (
    <td>
      <input
        type="checkbox"
        className="fg-tick"
        aria-label={`Select ${selection.labelOf(row)}`}
        checked={selection.isSelected(row)}
        onChange={(event) => selection.onChange([row], event.currentTarget.checked)}
      />
    </td>
  )
}
