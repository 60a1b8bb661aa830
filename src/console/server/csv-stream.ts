import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import { formatCsvCell } from '../../lib/escaping/csv-cell.ts'

type CsvRow = Readonly<Record<string, unknown>>

/**
 * Streams rows as CSV (RFC 4180) while they are read. Lists and objects become JSON text. The first
 * row is read before the response starts, so that an invalid query still returns an error status.
 */
export async function createCsvStream(
  columns: readonly string[],
  rows: AsyncIterable<CsvRow>,
): Promise<Readable> {
  const iterator = rows[Symbol.asyncIterator]()
  // The HTTP server reads the stream later: every row must still be read in this account's context.
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

function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  return formatCsvCell(typeof value === 'string' ? value : JSON.stringify(value))
}
