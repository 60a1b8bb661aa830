import type { ComparisonProgress } from '../../store/sqlite-to-postgres/compare-tables.ts'
import type { CopyProgress } from '../../store/sqlite-to-postgres/copy-tables.ts'

/** Tells on standard error how far a move has come: on one line of a terminal, or now and then. */
export type MigrationReporter = {
  readonly onProgress: (progress: CopyProgress) => void
  readonly onCompared: (compared: ComparisonProgress) => void
  readonly end: () => void
}

/** How often, where each line stays. */
const lineIntervalMs = 2000

/** A rate of less time than that says nothing. */
const rateWindowMsMin = 1000

/** @param nowMs for the rate. */
export function createMigrationReporter(nowMs: () => number): MigrationReporter {
  const { stderr } = process
  const startMs = nowMs()
  let lastMs = 0
  const say = (text: string, isEnd: boolean): void => {
    if (stderr.isTTY) return void stderr.write(`\r\u001B[K${text}`)
    if (!isEnd && nowMs() - lastMs < lineIntervalMs) return
    lastMs = nowMs()
    stderr.write(`${text}\n`)
  }
  return {
    onProgress: ({ table, rows, total, addedRows }) => {
      const tookMs = nowMs() - startMs
      const rate =
        tookMs > rateWindowMsMin ? `, ${Math.round((addedRows * 1000) / tookMs)} rows/s` : ''
      say(`copied ${rows} of ${total} rows of ${table}${rate}`, rows === total)
    },
    onCompared: ({ table, rows, total }) =>
      say(`compared ${rows} of ${total} rows of ${table}`, rows === total),
    end: () => {
      if (stderr.isTTY) stderr.write('\n')
    },
  }
}
