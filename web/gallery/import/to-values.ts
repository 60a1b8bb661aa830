import type { ListRow } from './read-list.ts'

/** The fields of a row as the server receives them. */
export type RowValues = Readonly<Record<string, unknown>>

/** Returns the fields of a row, or why a cell cannot be read. */
export function toValues({
  cells,
}: ListRow): { readonly values: RowValues } | { readonly problem: string } {
  const { groups, attributes, file: _file, ...texts } = cells
  const object = attributes === undefined ? undefined : parseObject(attributes)
  if (object === null) return { problem: 'attributes must be a JSON object, such as {"floor": 3}' }
  const values = {
    ...texts,
    ...(groups !== undefined && { groups: groups.split(/\s+/u).filter(Boolean) }),
    ...(object && { attributes: object }),
  }
  return { values }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** The most rows of one request, and the most characters of its rows: requests are limited to 64 KiB. */
export const chunkRowsMax = 25
export const chunkCharsMax = 16 * 1024

/** Divides rows into requests. */
export function chunkRows<Row>(rows: readonly Row[]): Row[][] {
  const chunks: Row[][] = []
  let chars = Infinity
  for (const row of rows) {
    const rowChars = JSON.stringify(row).length
    const last = chunks.at(-1)
    if (last && last.length < chunkRowsMax && chars + rowChars <= chunkCharsMax) {
      last.push(row)
      chars += rowChars
    } else {
      chunks.push([row])
      chars = rowChars
    }
  }
  return chunks
}
