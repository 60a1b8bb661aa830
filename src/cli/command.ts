import { createRateMeter, formatRate } from './rate-meter.ts'

/** Invalid arguments of a command. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The user ended the command with Ctrl-C. The exit code is 130, as shells expect. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
}

/** Values that can be listed; a function where the list needs other modules. */
export type ChoiceList = readonly string[] | (() => Promise<readonly string[]>)

/** How the text of an option or an argument becomes its value. */
export type ValueKind<Value> = {
  /** What the text must be, as a sentence continues `--limit must be`. */
  readonly rule?: string
  /** For the error message and the completion of shells. */
  readonly choices?: ChoiceList
  /** Whether several choices can be given, separated by commas. */
  readonly isList?: boolean
  /** What shells complete. */
  readonly completes?: 'file' | 'folder'
  /**
   * Returns undefined if the text does not follow the rule.
   *
   * @throws UsageError or RangeError with a more precise reason.
   */
  readonly parse: (text: string) => Value | undefined | Promise<Value | undefined>
}

/** An option or an argument of a command. */
export type ValueDeclaration<Value = unknown> = Omit<ValueKind<Value>, 'parse'> & {
  readonly summary: string
  /** The value as the help shows it, such as `<file>`; undefined: an option without a value. */
  readonly form: string | undefined
  readonly isRequired: boolean
  readonly isRepeatable: boolean
  /** The text that is used if none is given. */
  readonly default?: string
  /**
   * Returns the value.
   *
   * @param texts the given texts: none if the option or the argument is absent.
   * @param name the option or the argument, for messages.
   * @param explanation its summary, for messages.
   */
  readonly read: (texts: readonly string[], name: string, explanation: string) => Promise<Value>
}

export type ValueDeclarations = Readonly<Record<string, ValueDeclaration>>

/**
 * One command of the command line, or a group of commands. Parsing, help, completion and
 * docs/reference/cli.md are derived from this declaration.
 */
export type CliCommand = {
  readonly name: string
  /** One line for lists of commands. */
  readonly summary: string
  /** Paragraphs, each on one line. */
  readonly description: string
  /** Whole command lines. */
  readonly examples: readonly string[]
  /** By name. `--json` and `--help` are added to every command. */
  readonly options: ValueDeclarations
  /** In their order. */
  readonly arguments: ValueDeclarations
  /** The commands of a group; a command that runs has none. */
  readonly commands: readonly CliCommand[]
  /**
   * @throws UsageError for invalid arguments: one line on standard error, exit code 2.
   * @throws Error when the command fails: one line on standard error, exit code 1.
   */
  readonly run: (args: readonly string[]) => Promise<void>
}

/** What a command receives: the texts of its options and arguments, and whether it prints JSON. */
export type CommandValues<
  Required extends string = never,
  Optional extends string = never,
> = Readonly<Record<Required, string> & Record<Optional, string | undefined>> & {
  readonly json: boolean
}

/** Prints one JSON value on one line, or the text for people. */
export function print(value: unknown, isJson: boolean, text: () => string): void {
  console.log(isJson ? toJson(value) : text())
}

/** Returns the value as JSON on one line; amounts of money are strings. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? String(inner) : inner,
  )
}

/** A field of the rows, or what returns the content of a cell. */
type CellOf<Row> = keyof Row | ((row: Row) => unknown)

type RowColumns<Row> = Readonly<Record<string, CellOf<Row>>>

/** Prints rows as JSON, or as a table. */
export function printRows<Row>(rows: readonly Row[], isJson: boolean, columns: RowColumns<Row>) {
  print(rows, isJson, () => formatRows(rows, columns))
}

/** Returns a table with these columns, by their titles. */
export function formatRows<Row>(rows: readonly Row[], columns: RowColumns<Row>): string {
  // A missing value is empty, and a list is separated by commas.
  const cellOf = (row: Row, column: CellOf<Row>): string =>
    [typeof column === 'function' ? column(row) : row[column]].flat().join(',')
  const toCells = (row: Row) => Object.values(columns).map((column) => cellOf(row, column))
  return formatTable(Object.keys(columns), rows.map(toCells))
}

/** Returns a table with columns of equal width. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [line(head), ...rows.map(line)].join('\n')
}

/** Shows a progress bar for work that reports its progress. */
export async function showProgress<Result>(
  unit: string,
  work: (onProgress: (done: number, total: number) => void) => Result | Promise<Result>,
): Promise<Result> {
  const bar = createProgressBar(unit)
  const result = await work(bar.update)
  bar.end()
  return result
}

/**
 * Shows progress, the rate and the time left on standard error: on one line of a terminal, else one line per 10 %.
 *
 * @param unit plural of what is counted.
 */
export function createProgressBar(unit: string) {
  const { stderr } = process
  const width = 30
  const meter = createRateMeter()
  return {
    update: (done: number, total: number): void => {
      const share = total === 0 ? 1 : done / total
      const bar = '█'.repeat(Math.round(share * width)).padEnd(width, '░')
      const rate = meter.measure(done, total)
      const text = `${bar} ${done} of ${total} ${unit}${rate ? `, ${formatRate(rate, unit)}` : ''}`
      if (stderr.isTTY) stderr.write(`\r\u001B[K${text}`)
      else if (done === total || done % Math.ceil(total / 10) === 0) stderr.write(`${text}\n`)
    },
    end: (): void => {
      if (stderr.isTTY) stderr.write('\n')
    },
  }
}
