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
