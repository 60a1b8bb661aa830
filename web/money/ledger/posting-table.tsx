import type { ConsoleTransfer } from '../../api/responses.ts'
import { DataTable } from '../../lists/data-table.tsx'
import { LedgerName } from './ledger-name.tsx'
import { MoneyAmount } from '../money-amount.tsx'

/** The postings of a transfer. Their sum is zero. */
export function PostingTable({ transfer }: { readonly transfer: ConsoleTransfer }) {
  return (
    <DataTable
      caption="Postings"
      rows={transfer.postings}
      rowKey={({ ledger, amountMicros }) => `${ledger} ${amountMicros}`}
      columns={[
        {
          name: 'Ledger',
          renderCell: ({ ledger }) => <LedgerName {...{ ledger, transfer }} />,
        },
        {
          name: 'Amount',
          align: 'right',
          renderCell: ({ amountMicros }) => <MoneyAmount micros={amountMicros} />,
        },
      ]}
      empty={null}
    />
  )
}
