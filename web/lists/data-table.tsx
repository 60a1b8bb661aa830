// Cards are no longer tables for screen readers, so the roles of all parts are explicit.
/* oxlint-disable jsx-a11y/no-redundant-roles, jsx-a11y/no-interactive-element-to-noninteractive-role */
import { VisuallyHidden } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import {
  memo,
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
} from 'react'
import { ariaSort, SortButton, SortSelect } from './sort-controls.tsx'
import { sortRows, type SortableColumn } from './sort-rows.ts'
import './lists.css'

export type Column<Row> = SortableColumn<Row> & {
  readonly renderCell: (row: Row) => ReactNode
  /** Right-aligned cells also use the monospaced font, for numbers. */
  readonly align?: 'right'
  readonly isMonospace?: boolean
  /** Gets the space that the other columns leave; its text is cut or wrapped. */
  readonly isFlexible?: boolean
  /** Shown where a window has more space than the other columns need, and on the cards of a phone. */
  readonly isForWideWindow?: boolean
}

type RowProps<Row> = {
  readonly columns: readonly Column<Row>[]
  /** Opens a row: a click on the row, or its Open button. The arrow keys move between the buttons. */
  readonly onOpen?: ((row: Row) => void) | undefined
  /** The label of this button for screen readers. */
  readonly openLabel?: ((row: Row) => string) | undefined
  /** Further controls of a row, beside its Open button while the row has the pointer or the focus. */
  readonly rowActions?: ((row: Row) => ReactNode) | undefined
  /** Whether a row is highlighted, because it was added to a list that is open. */
  readonly isNew?: ((row: Row) => boolean) | undefined
}

type Props<Row> = RowProps<Row> & {
  readonly caption: string
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  /** Replaces the table if there are no rows. */
  readonly empty: ReactNode
  /** The order of the rows: the name of a column, with `-` for descending. */
  readonly sort?: string | undefined
  /** Without it the headers do not sort. */
  readonly onSortChange?: ((sort: string) => void) | undefined
}

/**
 * A table; on a phone a list of cards with the same content. A wide table scrolls inside its
 * container, so that the page does not scroll sideways.
 */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  rowKey,
  empty,
  sort,
  onSortChange,
  onOpen,
  openLabel,
  rowActions,
  isNew,
}: Props<Row>) {
  const sorted = useMemo(() => sortRows(rows, columns, sort), [rows, columns, sort])
  // The same function at every rendering, so that rows are rendered only when they change.
  const latestOpen = useRef(onOpen)
  useLayoutEffect(() => {
    latestOpen.current = onOpen
  })
  const openRow = useCallback((row: Row) => latestOpen.current?.(row), [])
  const isPhone = useMediaQuery('(max-width: 600px)', false, { getInitialValueInEffect: false })
  if (rows.length === 0) return <>{empty}</>
  const isSortable = onSortChange && columns.some((column) => column.sort !== undefined)
  return (
    <>
      {isSortable && <SortSelect columns={columns} sort={sort} onSortChange={onSortChange} />}
      {/* A scrollable element must be reachable with the keyboard. */}
      <section className="fg-scroll" tabIndex={0} aria-label={caption}>
        <table
          className="fg-table fg-cards"
          role="table"
          data-dense={columns.some(({ isForWideWindow }) => isForWideWindow) ? '' : undefined}
        >
          <VisuallyHidden component="caption">{caption}</VisuallyHidden>
          <thead role="rowgroup">
            <tr role="row">
              {columns.map(({ name, align, sort: column, ...shown }) => (
                <th
                  key={name}
                  scope="col"
                  role="columnheader"
                  data-align={align}
                  {...spaceOf(shown)}
                  aria-sort={ariaSort(column, sort)}
                >
                  {/* On a phone "Sort by" sorts: the focus must not move to a hidden button. */}
                  {!isPhone && onSortChange && column !== undefined ? (
                    <SortButton {...{ name, column, sort, onSortChange }} />
                  ) : (
                    name
                  )}
                </th>
              ))}
              {onOpen && (
                <th scope="col" role="columnheader">
                  <VisuallyHidden>Open</VisuallyHidden>
                </th>
              )}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {sorted.map((row) => (
              <DataRow
                key={rowKey(row)}
                row={row}
                columns={columns}
                isNew={isNew?.(row) === true}
                openLabel={openLabel?.(row)}
                rowActions={rowActions}
                onOpen={onOpen && openRow}
              />
            ))}
          </tbody>
        </table>
      </section>
    </>
  )
}

type RowBodyProps<Row> = {
  readonly row: Row
  readonly columns: readonly Column<Row>[]
  readonly isNew: boolean
  readonly openLabel: string | undefined
  readonly onOpen: ((row: Row) => void) | undefined
} & Pick<RowProps<Row>, 'rowActions'>

function RowBody<Row>(props: RowBodyProps<Row>) {
  const { row, columns, isNew, openLabel, onOpen, rowActions } = props
  // A page has up to 200 rows: the controls exist only while they are visible.
  const [isActive, setIsActive] = useState(false)
  return (
    // The Open button offers the same with the keyboard.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <tr
      role="row"
      data-pressable={onOpen ? '' : undefined}
      data-new={isNew ? '' : undefined}
      {...(rowActions && {
        onMouseEnter: () => setIsActive(true),
        onMouseLeave: ({ currentTarget }: MouseEvent<HTMLElement>) =>
          setIsActive(currentTarget.contains(document.activeElement)),
        onFocus: () => setIsActive(true),
        onBlur: ({ currentTarget, relatedTarget }: FocusEvent<HTMLElement>) =>
          setIsActive(currentTarget.contains(relatedTarget)),
      })}
      onClick={(event) => {
        if (isRowClick(event)) onOpen?.(row)
      }}
    >
      {columns.map(({ name, renderCell, align, isMonospace, ...shown }) => (
        <td
          key={name}
          role="cell"
          data-label={name}
          data-align={align}
          data-mono={isMonospace ? '' : undefined}
          {...spaceOf(shown)}
        >
          {renderCell(row)}
        </td>
      ))}
      {onOpen && (
        <td role="cell" className="fg-open-cell">
          <button
            type="button"
            className="fg-row-button"
            data-open
            aria-label={openLabel}
            onKeyDown={moveBetweenRows}
            onClick={() => onOpen(row)}
          >
            Open
          </button>
          {isActive && <span className="fg-row-actions">{rowActions?.(row)}</span>}
        </td>
      )}
    </tr>
  )
}

/** A row of an unchanged list is not rendered again, such as when another row opens. */
const DataRow = memo(RowBody) as typeof RowBody

type ColumnSpace = Pick<Column<unknown>, 'isFlexible' | 'isForWideWindow'>

/** Returns the attributes with which lists.css distributes the width of a table. */
function spaceOf({ isFlexible, isForWideWindow }: ColumnSpace) {
  return {
    'data-flexible': isFlexible ? '' : undefined,
    'data-wide-window': isForWideWindow ? '' : undefined,
  }
}

/** A click on a control of the row, or the end of a text selection, does not open the row. */
function isRowClick({ target }: MouseEvent<HTMLElement>): boolean {
  const isControl = target instanceof Element && target.closest('a, button, input, label') !== null
  return !isControl && window.getSelection()?.isCollapsed !== false
}

/** Moves the focus to the button of the next or the previous row. */
function moveBetweenRows(event: KeyboardEvent<HTMLButtonElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  const buttons = [
    ...(event.currentTarget.closest('tbody')?.querySelectorAll<HTMLElement>('[data-open]') ?? []),
  ]
  const next = buttons[buttons.indexOf(event.currentTarget) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
