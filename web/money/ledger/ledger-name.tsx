import type { ConsoleTransfer } from '../../api/responses.ts'
import { ledgerText } from './ledger-text.ts'

type Props = {
  readonly ledger: string
  readonly transfer: Pick<ConsoleTransfer, 'projectName'>
}

/** One side of a transfer in words. The tooltip contains its id, which the CSV file and the command line use. */
export function LedgerName({ ledger, transfer: { projectName } }: Props) {
  return <span title={ledger}>{ledgerText(ledger, projectName)}</span>
}
