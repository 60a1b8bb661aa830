/** Where spreadsheets can begin a formula, as in `src/lib/escaping/csv-cell.ts`. */
const formulaStart =
  /(?<=^|[;,\t\r\n"])(?='*(?!-\d+(?:\.\d+)?(?:[;,\]}]|$))[=+\-@＝＋－＠])|^(?='*[\t\r\n])/gu
const apostrophe =
  /(?<=^|[;,\t\r\n"])'(?='*(?!-\d+(?:\.\d+)?(?:[;,\]}]|$))[=+\-@＝＋－＠])|^'(?='*[\t\r\n])/gu

/** Removes the apostrophe that an export puts before each beginning of a formula. */
export function restoreCell(cell: string): string {
  return cell.replaceAll(apostrophe, '')
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
  const safe = String(value ?? '').replaceAll(formulaStart, "'")
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
