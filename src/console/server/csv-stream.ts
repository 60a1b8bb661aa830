import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import { formatCsvCell } from '../../lib/escaping/csv-cell.ts'

/**
 * Streams rows as CSV (RFC 4180) while they are read. Lists and objects become JSON text. The first
 * row is read before the response starts, so that an invalid query still returns an error status.
 */
export async function createCsvStream(
  columns: readonly string[],
  rows: AsyncIterable<Readonly<Record<string, unknown>>>,
): Promise<Readable> {
  const iterator = rows[Symbol.asyncIterator]()
  // The HTTP server reads the stream later: every row must still be read in this account's context.
  const next = AsyncLocalStorage.bind(() => iterator.next())
  const first = await next()
  return Readable.from(lines())

  async function* lines() {
    yield `${columns.join(',')}\r\n`
    for (let row = first; row.done !== true; row = await next()) {
      const { value } = row
      yield `${columns.map((name) => formatCell(value[name])).join(',')}\r\n`
    }
  }
}

function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  return formatCsvCell(typeof value === 'string' ? value : JSON.stringify(value))
}
