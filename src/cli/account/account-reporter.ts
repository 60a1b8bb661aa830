import type { AccountCopyProgress } from '../../store/account-move/copy-account.ts'

/** Prints the progress of a move on standard error: on one line of a terminal, else on several. */
export type AccountReporter = {
  readonly onWaiting: (runningCalls: number) => void
  readonly onProgress: (progress: AccountCopyProgress) => void
  readonly onRemoved: (progress: { readonly table: string; readonly rows: number }) => void
  readonly end: () => void
}

/** Minimum time between two lines where standard error is not a terminal. */
const lineIntervalMs = 2000

export function createAccountReporter(): AccountReporter {
  const { stderr } = process
  let lastLineMs = 0
  const report = (text: string): void => {
    if (stderr.isTTY) return void stderr.write(`\r\u001B[K${text}`)
    if (Date.now() - lastLineMs < lineIntervalMs) return
    lastLineMs = Date.now()
    stderr.write(`${text}\n`)
  }
  return {
    onWaiting: (calls) => report(`waiting for ${calls} running calls`),
    onProgress: ({ step, table, rows }) => report(`${step} ${rows} rows of ${table}`),
    onRemoved: ({ table, rows }) => report(`deleted ${rows} rows of ${table}`),
    end: () => {
      if (stderr.isTTY) stderr.write('\n')
    },
  }
}
