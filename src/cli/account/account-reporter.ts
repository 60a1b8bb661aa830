import type { AccountCopyProgress } from '../../store/account-move/copy-account.ts'
import { createStatusLine } from '../status-line.ts'

type RemovalProgress = { readonly table: string; readonly rows: number }

/** Prints the progress of a move. */
export function createAccountReporter() {
  const { report, end } = createStatusLine()
  return {
    onWaiting: (calls: number) => report(`waiting for ${calls} running calls`),
    onProgress: ({ step, table, rows }: AccountCopyProgress) =>
      report(`${step} ${rows} rows of ${table}`),
    onRemoved: ({ table, rows }: RemovalProgress) => report(`deleted ${rows} rows of ${table}`),
    end,
  }
}
