import type { ComparisonProgress } from '../../store/sqlite-to-postgres/compare-tables.ts'
import type { CopyProgress } from '../../store/sqlite-to-postgres/copy-tables.ts'

/** Prints the progress of a migration on standard error: on one line of a terminal, else on several. */
export type MigrationReporter = {
  readonly onProgress: (progress: CopyProgress) => void
  readonly onCompared: (progress: ComparisonProgress) => void
  readonly end: () => void
}

/** Minimum time between two lines where standard error is not a terminal. */
const lineIntervalMs = 2000

/** Minimum time over which a rate is computed; over less it is not significant. */
const rateWindowMsMin = 1000

/** @param nowMs the clock for the rate. */
export function createMigrationReporter(nowMs: () => number): MigrationReporter {
  const { stderr } = process
  const startMs = nowMs()
  let lastLineMs = 0
  const report = (text: string, isLast: boolean): void => {
    if (stderr.isTTY) return void stderr.write(`\r\u001B[K${text}`)
    if (!isLast && nowMs() - lastLineMs < lineIntervalMs) return
    lastLineMs = nowMs()
    stderr.write(`${text}\n`)
  }
  return {
    onProgress: ({ table, rows, total, addedRows }) => {
      const elapsedMs = nowMs() - startMs
      const rate =
        elapsedMs > rateWindowMsMin ? `, ${Math.round((addedRows * 1000) / elapsedMs)} rows/s` : ''
      report(`copied ${rows} of ${total} rows of ${table}${rate}`, rows === total)
    },
    onCompared: ({ table, rows, total }) =>
      report(`compared ${rows} of ${total} rows of ${table}`, rows === total),
    end: () => {
      if (stderr.isTTY) stderr.write('\n')
    },
  }
}
