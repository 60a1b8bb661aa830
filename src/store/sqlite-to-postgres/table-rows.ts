import { isDeepStrictEqual } from 'node:util'
import { unpackLatencies } from '../../lib/observability/latency-histogram.ts'

/** A row in the format of both engines: text, numbers, money as bigint, bytes, null. */
export type TableRow = Readonly<Record<string, unknown>>

/** The values of a row's key columns. */
export type KeyValues = readonly unknown[]

/** The column is an array in PostgreSQL and packed bytes in SQLite. */
const histogramColumn = 'latencies'

/**
 * Converts rows to JSON for `json_populate_recordset`, which converts each value to the type of its
 * column.
 *
 * @throws Error for text with a NUL character.
 */
export function rowsToJson(rows: readonly TableRow[]): string {
  return JSON.stringify(
    rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toJson(name, value)])),
    ),
  )
}

function toJson(name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array)
    return name === histogramColumn ? [...unpackLatencies(value)] : `\\x${hexOf(value)}`
  if (typeof value === 'string' && value.includes('\0'))
    throw new Error(`a ${name} contains a NUL character, which PostgreSQL cannot store`)
  return value
}

export function keyToText(key: KeyValues): string {
  return JSON.stringify(
    key.map((value) => (value instanceof Uint8Array ? { hex: hexOf(value) } : value)),
  )
}

/** @param text the result of `keyToText`. */
export function keyFromText(text: string): KeyValues {
  const values = JSON.parse(text) as (string | number | { readonly hex: string })[]
  return values.map((value) => (typeof value === 'object' ? Buffer.from(value.hex, 'hex') : value))
}

export function keyOf(row: TableRow, columns: readonly string[]): KeyValues {
  return columns.map((column) => row[column])
}

/** Returns the names of the columns in which two rows differ. */
export function differingColumns(row: TableRow, other: TableRow): string[] {
  return Object.keys(row).filter((name) => !isSame(row[name], other[name]))
}

function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0
  return isDeepStrictEqual(a, b)
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
