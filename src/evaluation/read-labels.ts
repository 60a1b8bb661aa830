import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'csv-parse/sync'

/**
 * Reads `labels.csv` of a folder: a header line, then one line per image.
 *
 * @throws Error that names the file and the missing column.
 */
export async function readLabels(
  folder: string,
  columns: readonly string[],
): Promise<Readonly<Record<string, string>>[]> {
  const file = path.join(folder, 'labels.csv')
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`cannot read ${file}`, { cause })
  })
  const rows: Record<string, string>[] = parse(text, { columns: true, bom: true, trim: true })
  const missing = columns.filter((column) => rows[0]?.[column] === undefined)
  if (missing.length > 0) throw new Error(`${file} has no column ${missing.join(', ')}`)
  return rows
}
