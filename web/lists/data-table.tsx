import { Button, VisuallyHidden } from '@mantine/core'
import type { KeyboardEvent, MouseEvent, ReactNode } from 'react'

export type Column<Row> = {
  readonly name: string
  readonly renderCell: (row: Row) => ReactNode
  /** Right-aligned cells also use the monospaced font, for numbers. */
  readonly align?: 'right'
  readonly isMonospace?: boolean
}

type Props<Row> = {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  /** Replaces the table if there are no rows. */
  readonly empty: ReactNode
  /** Opens a row: a click on the row, or its Open button. The arrow keys move between the buttons. */
  readonly onOpen?: (row: Row) => void
  /** The label of this button for screen readers. */
  readonly openLabel?: (row: Row) => string
  /** Whether a row is highlighted, because it was added to a list that is open. */
  readonly isNew?: (row: Row) => boolean
}

/** A table. A wide table scrolls inside its container, so that the page does not scroll sideways. */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  rowKey,
  empty,
  onOpen,
  openLabel,
  isNew,
}: Props<Row>) {
  if (rows.length === 0) return <>{empty}</>
  return (
    // A scrollable element must be reachable with the keyboard.
    <section className="fg-scroll" tabIndex={0} aria-label={caption}>
      <table className="fg-table">
        <VisuallyHidden component="caption">{caption}</VisuallyHidden>
        <thead>
          <tr>
            {columns.map(({ name, align }) => (
              <th key={name} scope="col" data-align={align}>
                {name}
              </th>
            ))}
            {onOpen && (
              <th scope="col">
                <VisuallyHidden>Open</VisuallyHidden>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            // The Open button offers the same with the keyboard.
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
            <tr
              key={rowKey(row)}
              data-pressable={onOpen ? '' : undefined}
              data-new={isNew?.(row) ? '' : undefined}
              onClick={(event) => {
                if (isRowClick(event)) onOpen?.(row)
              }}
            >
              {columns.map(({ name, renderCell, align, isMonospace }) => (
                <td key={name} data-align={align} data-mono={isMonospace ? '' : undefined}>
                  {renderCell(row)}
                </td>
              ))}
              {onOpen && (
                <td data-align="right">
                  <Button
                    size="compact-xs"
                    variant="default"
                    data-open
                    aria-label={openLabel?.(row)}
                    onKeyDown={moveBetweenRows}
                    onClick={() => onOpen(row)}
                  >
                    Open
                  </Button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
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
