/** Prints one JSON value on one line, or the text for people. */
export function print(value: unknown, isJson: boolean, text: () => string): void {
  console.log(isJson ? toJson(value) : text())
}

/** Returns the value as JSON on one line; amounts of money are strings. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? String(inner) : inner,
  )
}

/** A field of the rows, or what returns the content of a cell. */
type CellOf<Row> = keyof Row | ((row: Row) => unknown)

type RowColumns<Row> = Readonly<Record<string, CellOf<Row>>>

/** Prints rows as JSON, or as a table. */
export function printRows<Row>(
  rows: readonly Row[],
  isJson: boolean,
  columns: RowColumns<Row>,
): void {
  print(rows, isJson, () => formatRows(rows, columns))
}

/** Returns a table with these columns, by their titles. */
export function formatRows<Row>(rows: readonly Row[], columns: RowColumns<Row>): string {
  // A missing value is empty, and a list is separated by commas.
  const cellOf = (row: Row, column: CellOf<Row>): string =>
    [typeof column === 'function' ? column(row) : row[column]].flat().join(',')
  const toCells = (row: Row) => Object.values(columns).map((column) => cellOf(row, column))
  return formatTable(Object.keys(columns), rows.map(toCells))
}

/** Returns a table with columns of equal width. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [line(head), ...rows.map(line)].join('\n')
}
