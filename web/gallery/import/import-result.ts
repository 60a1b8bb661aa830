import { toCsv } from './csv-cells.ts'

/** The result of one row of a list. */
export type RowResult = {
  readonly line: number
  readonly result:
    | 'enrolled'
    | 'added'
    | 'duplicate'
    | 'updated'
    | 'unchanged'
    | 'unknown'
    | 'refused'
  /** The external id or the file of the row. */
  readonly name: string
  readonly subjectId?: string | undefined
  readonly message?: string | undefined
}

/** Whether the row needs the attention of the user. */
export function isProblem({ result }: RowResult): boolean {
  return result === 'unknown' || result === 'refused' || result === 'duplicate'
}

const columns = ['line', 'name', 'result', 'subjectId', 'message'] as const

/** The results of an import as CSV, in the order of the list. */
export function resultsCsv(results: readonly RowResult[]): string {
  return toCsv(
    columns,
    results.toSorted((a, b) => a.line - b.line),
  )
}

/** Counts the results by their kind. */
export function countResults(
  results: readonly RowResult[],
): readonly (readonly [result: RowResult['result'], count: number])[] {
  const groups = Map.groupBy(results, ({ result }) => result)
  return [...groups].map(([result, rows]) => [result, rows.length] as const)
}

/** Replaces the results of rows that were sent again. */
export function replaceResults(
  results: readonly RowResult[],
  later: readonly RowResult[],
): readonly RowResult[] {
  const byLine = new Map(later.map((result) => [result.line, result]))
  return results.map((result) => byLine.get(result.line) ?? result)
}
