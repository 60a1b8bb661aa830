import { types, type CustomTypesConfig, type QueryResult } from 'pg'
import { packLatencies } from '../../../lib/observability/latency-histogram.ts'

/** Oids of PostgreSQL's own types, which are the same everywhere. */
const bigint = 20
const numeric = 1700
const integerArray = 1007

/** How values come; whole numbers stay text until `readRows` knows the names of their columns. */
export const getTypeParser: CustomTypesConfig['getTypeParser'] = (oid: number, format?: string) => {
  if (oid === bigint || oid === numeric) return String
  if (oid === integerArray) return parseHistogram
  return types.getTypeParser(oid, format as 'text')
}

/** A text within SQL that takes no parameters: several statements in one, or the making of an index. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A histogram comes as SQLite has it, see `lib/latency-histogram.ts`. */
function parseHistogram(text: string): Uint8Array {
  return packLatencies(Uint32Array.from(text.slice(1, -1).split(','), Number))
}

/**
 * Columns whose names end in `Micros` are money and come as bigint, other whole numbers as numbers,
 * as with SQLite.
 *
 * @throws RangeError for a number that would be rounded.
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
  if (Math.abs(number) > Number.MAX_SAFE_INTEGER)
    throw new RangeError(`${text} is beyond a whole number`)
  return number
}
