import { Readable } from 'node:stream'

type Row = Readonly<Record<string, unknown>>

/** Rows as CSV (RFC 4180), sent as they are read; lists as JSON. */
export function csvStream(columns: readonly string[], rows: AsyncIterable<Row>): Readable {
  return Readable.from(lines(columns, rows))
}

async function* lines(columns: readonly string[], rows: AsyncIterable<Row>) {
  yield `${columns.join(',')}\r\n`
  for await (const row of rows) yield `${columns.map((name) => cell(row[name])).join(',')}\r\n`
}

/**
 * Spreadsheets run what begins like a formula, quoted or not: a quote before it makes it a text. A
 * plain number is none, also a negative one.
 */
function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const isNumber = /^-?\d+(?:\.\d+)?$/u.test(text)
  const safe = !isNumber && /^[=+\-@\t\r]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
