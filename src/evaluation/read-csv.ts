import { readFile } from 'node:fs/promises'
import { CsvError, parse } from 'csv-parse/sync'

/** One line of a CSV file, below the header. */
export type LabelRow = {
  /** The file and the line, to begin an error message with. */
  readonly location: string
  /** The cells by column; an absent column is undefined. */
  readonly cells: Readonly<Record<string, string | undefined>>
}

/**
 * Reads a CSV file in UTF-8: a header line with the names of the columns, then one line per row.
 * Empty lines are skipped. The order of the columns does not matter, and other columns may be present.
 *
 * @throws Error that names the file, the line, the rule and the remedy.
 */
export async function readCsv(file: string, columns: readonly string[]): Promise<LabelRow[]> {
  const text = await readText(file, columns)
  const rows = parseCsv(file, text, columns)
  if (rows.length === 0)
    throw new Error(`${file}, line 2: there are no rows; add one line per entry below the header`)
  return rows.map(({ record, info }) => ({
    location: `${file}, line ${info.lines}`,
    cells: record,
  }))
}

type ParsedRow = {
  readonly record: Readonly<Record<string, string>>
  readonly info: { readonly lines: number }
}

async function readText(file: string, columns: readonly string[]): Promise<string> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(
      `cannot read ${file} (${reason}); create the file with the columns ${columns.join(', ')}`,
      { cause },
    )
  })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Error(`${file} is not UTF-8; save it as "CSV UTF-8"`, { cause })
  }
}

function parseCsv(file: string, text: string, columns: readonly string[]): ParsedRow[] {
  try {
    return parse(text, {
      columns: (header: readonly string[]) => checkHeader(file, header, columns),
      bom: true,
      trim: true,
      skip_empty_lines: true,
      info: true,
    }) as unknown as ParsedRow[]
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const line = Number(error['lines'] ?? 1)
    throw new Error(`${file}, line ${line}: ${problemOf(error)}`, { cause: error })
  }
}

function checkHeader(file: string, header: readonly string[], columns: readonly string[]) {
  const missing = columns.filter((column) => !header.includes(column))
  if (missing.length > 0)
    throw new Error(
      `${file}, line 1: the header has no column ${missing.join(', ')}; ` +
        `the first line must name the columns ${columns.join(', ')}, with commas between all columns`,
    )
  const repeated = header.find((column, index) => header.indexOf(column) !== index)
  if (repeated !== undefined)
    throw new Error(`${file}, line 1: the column ${repeated} occurs twice; remove one of them`)
  return [...header]
}

function problemOf({ code }: CsvError): string {
  if (code === 'CSV_RECORD_INCONSISTENT_COLUMNS')
    return 'the number of cells differs from the header; add the missing cells, and enclose cells that contain a comma in quotation marks'
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return 'a quotation mark is not closed; add the missing quotation mark'
  return 'a quotation mark is inside a cell; enclose the cell in quotation marks and double those inside it'
}
