import { types, type CustomTypesConfig, type QueryResult } from 'pg'
import { packLatencies } from '../../../lib/observability/latency-histogram.ts'

/** The object ids of built-in types, which are the same on every server. */
const bigint = 20
const numeric = 1700
const integerArray = 1007

/** Parses values by type. Whole numbers stay text until `readRows`, which uses the columns' names. */
export const getTypeParser: CustomTypesConfig['getTypeParser'] = (oid: number, format?: string) => {
  if (oid === bigint || oid === numeric) return String
  if (oid === integerArray) return parseHistogram
  return types.getTypeParser(oid, format as 'text')
}

/** Quotes a text for SQL without parameters: several statements in one text, or `create index`. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Converts a histogram to SQLite's format, see `lib/observability/latency-histogram.ts`. */
function parseHistogram(text: string): Uint8Array {
  return packLatencies(Uint32Array.from(text.slice(1, -1).split(','), Number))
}

/**
 * Converts the whole numbers of rows as for SQLite: columns whose names end in `Micros` are money and
 * become bigint, all others become numbers.
 *
 * @throws RangeError for a number beyond 2^53, which would be rounded.
 */
export function readRows({ rows, fields }: QueryResult): readonly Record<string, unknown>[] {
  const wide = fields.filter(({ dataTypeID }) => dataTypeID === bigint || dataTypeID === numeric)
  if (wide.length === 0) return rows
  for (const row of rows)
    for (const { name } of wide) {
      const value: unknown = row[name]
      if (typeof value === 'string')
        row[name] = name.endsWith('Micros') ? BigInt(value) : safeNumber(value)
    }
  return rows
}

function safeNumber(text: string): number {
  const number = Number(text)
  if (Math.abs(number) > Number.MAX_SAFE_INTEGER) throw new RangeError(`${text} exceeds 2^53`)
  return number
}
