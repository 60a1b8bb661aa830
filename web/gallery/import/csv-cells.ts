/**
 * Removes the apostrophe that an export puts before a text that spreadsheets would run as a formula.
 * Exports put one more before a text that already begins like that, so that exactly one is removed.
 */
export function restoreCell(cell: string): string {
  return /^'+[=+\-@\t\r]/u.test(cell) ? cell.slice(1) : cell
}

/** Formats rows as CSV (RFC 4180), as the exports of the server do. */
export function toCsv(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, string | number | undefined>>[],
): string {
  const lines = rows.map((row) => columns.map((name) => formatCell(row[name])).join(','))
  return [columns.join(','), ...lines, ''].join('\r\n')
}

function formatCell(value: string | number | undefined): string {
  const text = String(value ?? '')
  const isNumber = /^-?\d+(?:\.\d+)?$/u.test(text)
  const safe = !isNumber && /^'*[=+\-@\t\r]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
