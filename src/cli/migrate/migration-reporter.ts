import type { ComparisonProgress } from '../../store/sqlite-to-postgres/compare-tables.ts'
import type { CopyProgress } from '../../store/sqlite-to-postgres/copy-tables.ts'
import { createStatusLine } from '../status-line.ts'

/** Minimum time over which a rate is computed; over less it is not significant. */
const rateWindowMsMin = 1000

/** Prints the progress of a migration. @param nowMs the clock for the rate. */
export function createMigrationReporter(nowMs: () => number) {
  const startMs = nowMs()
  const { report, end } = createStatusLine(nowMs)
  return {
    onProgress: ({ table, rows, total, addedRows }: CopyProgress) => {
      const elapsedMs = nowMs() - startMs
      const rate =
        elapsedMs > rateWindowMsMin ? `, ${Math.round((addedRows * 1000) / elapsedMs)} rows/s` : ''
      report(`copied ${rows} of ${total} rows of ${table}${rate}`, rows === total)
    },
    onCompared: ({ table, rows, total }: ComparisonProgress) =>
      report(`compared ${rows} of ${total} rows of ${table}`, rows === total),
    end,
  }
}
