import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'

type CsvRow = Readonly<Record<string, unknown>>

/**
 * Rows as CSV (RFC 4180), sent as they are read; lists as JSON. The first row is read before anything
 * is sent: what is wrong with the question still becomes an answer of its own.
 */
export async function createCsvStream(
  columns: readonly string[],
  rows: AsyncIterable<CsvRow>,
): Promise<Readable> {
  const iterator = rows[Symbol.asyncIterator]()
  // Whoever reads the stream, the rows are read for the account that asked.
  const next = AsyncLocalStorage.bind(() => iterator.next())
  return Readable.from(csvLines(columns, next, await next()))
}

async function* csvLines(
  columns: readonly string[],
  next: () => Promise<IteratorResult<CsvRow>>,
  first: IteratorResult<CsvRow>,
) {
  yield `${columns.join(',')}\r\n`
  for (let row = first; row.done !== true; row = await next()) {
    const { value } = row
    yield `${columns.map((name) => formatCell(value[name])).join(',')}\r\n`
  }
}

/**
 * Spreadsheets run what begins like a formula, quoted or not: a quote before it makes it a text. A
 * plain number is none, also a negative one.
 */
function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const isNumber = /^-?\d+(?:\.\d+)?$/u.test(text)
  const safe = !isNumber && /^[=+\-@\t\r]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
