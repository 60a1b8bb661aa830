import type { ConsolePosting } from '../api/responses.ts'
import { DataTable } from '../lists/data-table.tsx'
import { MoneyAmount } from './money-amount.tsx'

/** The postings of a transfer. Their sum is zero. */
export function PostingTable({ postings }: { readonly postings: readonly ConsolePosting[] }) {
  return (
    <DataTable
      caption="Postings"
      rows={postings}
      rowKey={({ ledger, amountMicros }) => `${ledger} ${amountMicros}`}
      columns={[
        { name: 'Ledger', isMonospace: true, renderCell: ({ ledger }) => ledger },
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
