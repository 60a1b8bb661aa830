import { Button, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'

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
  /** Opens a row. If set, each row ends with an Open button. */
  readonly onOpen?: (row: Row) => void
  /** The label of this button for screen readers. */
  readonly openLabel?: (row: Row) => string
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
            <tr key={rowKey(row)} data-pressable={onOpen ? '' : undefined}>
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
                    aria-label={openLabel?.(row)}
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
