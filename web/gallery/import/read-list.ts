import { parse } from 'csv-parse/browser/esm/sync'
import { restoreCell } from './csv-cells.ts'

/** The most rows and bytes of a list. Longer lists are divided by the user, or sent by a program. */
export const listRowsMax = 10_000
export const listBytesMax = 16 * 1024 * 1024

/** The columns that an import reads. */
const importColumns = [
  'subjectId',
  'externalId',
  'displayName',
  'groups',
  'attributes',
  'expiresAtUtc',
  'file',
] as const

type ImportColumn = (typeof importColumns)[number]

/** The columns of an export that describe a subject and cannot be changed. */
const describingColumns = new Set(['embeddingCount', 'createdAtUtc', 'updatedAtUtc'])

/** One row of a list. An empty cell is absent. */
export type ListRow = {
  /** The line of the file on which the row ends. */
  readonly line: number
  readonly cells: Partial<Readonly<Record<ImportColumn, string>>>
}

export type SubjectsFile = {
  readonly rows: readonly ListRow[]
  /** The names of columns without a meaning. */
  readonly ignoredColumns: readonly string[]
  /** Whether the rows name picture files. */
  readonly hasFiles: boolean
}

/** Returns the rows of a CSV file, or why it cannot be read, with the remedy. */
export function readList(bytes: Uint8Array): SubjectsFile | { readonly problem: string } {
  if (bytes.length > listBytesMax)
    return { problem: `The list is larger than ${listBytesMax / 1024 ** 2} MiB. Divide it.` }
  const text = decodeUtf8(bytes)
  if (text === undefined)
    return { problem: 'The list is not encoded in UTF-8. Save it as “CSV UTF-8”.' }
  const records = parseRecords(text)
  if (typeof records === 'string') return { problem: records }
  const names = records.columns
  if (!names.includes('subjectId') && !names.includes('externalId'))
    return {
      problem:
        'The first line must name the columns, one of them externalId (or subject) or subjectId.',
    }
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) return { problem: `The column ${repeated} occurs twice. Remove one.` }
  if (records.rows.length === 0) return { problem: 'The list has no rows below its first line.' }
  if (records.rows.length > listRowsMax)
    return {
      problem: `The list has ${records.rows.length} rows; at most ${listRowsMax} are accepted. Divide it.`,
    }
  const isKnown = (name: string): name is ImportColumn =>
    (importColumns as readonly string[]).includes(name)
  return {
    rows: records.rows.map(({ line, cells }) => ({
      line,
      cells: Object.fromEntries(
        names.flatMap((name, index) => {
          const cell = restoreCell(cells[index] ?? '')
          return isKnown(name) && cell !== '' ? [[name, cell]] : []
        }),
      ),
    })),
    ignoredColumns: names.filter((name) => !isKnown(name) && !describingColumns.has(name)),
    hasFiles: names.includes('file'),
  }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

type ParsedRecord = {
  readonly record: readonly string[]
  readonly info: { readonly lines: number }
}

function parseRecords(text: string) {
  try {
    // With `info`, each item contains the record and the line of its end.
    const parsed = parse(text, {
      bom: true,
      info: true,
      delimiter: delimiterOf(text),
      skip_empty_lines: true,
    }) as unknown as readonly ParsedRecord[]
    const [header, ...rows] = parsed
    // Lists of CompreFace call the external id `subject`.
    const columns = (header?.record ?? []).map((name) => name.trim())
    return {
      columns: columns.includes('externalId')
        ? columns
        : columns.map((name) => (name === 'subject' ? 'externalId' : name)),
      rows: rows.map(({ record, info }) => ({ line: info.lines, cells: record })),
    }
  } catch (error) {
    return `The list cannot be read: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Spreadsheets of some languages separate cells by semicolons or tabs. */
function delimiterOf(text: string): string {
  const [header = ''] = text.split(/\r?\n/u, 1)
  const counts = [',', ';', '\t'].map((delimiter) => ({
    delimiter,
    count: header.split(delimiter).length,
  }))
  return counts.toSorted((a, b) => b.count - a.count)[0]?.delimiter ?? ','
}
