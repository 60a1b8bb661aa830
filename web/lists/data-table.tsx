import { Button, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'

export type Column<Row> = {
  readonly name: string
  readonly renderCell: (row: Row) => ReactNode
  /** Numbers stand to the right, in the monospaced face. */
  readonly align?: 'right'
  readonly isMonospace?: boolean
}

type Props<Row> = {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  /** Shown in place of the table when there are no rows. */
  readonly empty: ReactNode
  /** Opens a row; each row then ends in a button for it. */
  readonly onOpen?: (row: Row) => void
  /** What the button of a row is called for those who hear it. */
  readonly openLabel?: (row: Row) => string
}

/** Rows under columns. It scrolls within itself, never the page. */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  rowKey: keyOf,
  empty,
  onOpen,
  openLabel,
}: Props<Row>) {
  if (rows.length === 0) return <>{empty}</>
  return (
    // What scrolls must be reachable by the keyboard.
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
            <tr key={keyOf(row)} data-pressable={onOpen ? '' : undefined}>
              {columns.map(({ name, renderCell: cell, align, isMonospace: mono }) => (
                <td key={name} data-align={align} data-mono={mono ? '' : undefined}>
                  {cell(row)}
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
