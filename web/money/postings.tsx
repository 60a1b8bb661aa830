import type { Posting } from '../api/answers.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Money } from '../parts/money.tsx'

/** What a transfer did to each ledger; the sum is always nought. */
export function Postings({ postings }: { readonly postings: readonly Posting[] }) {
  return (
    <DataTable
      caption="Postings"
      rows={postings}
      keyOf={({ ledger, amountMicros }) => `${ledger} ${amountMicros}`}
      columns={[
        { name: 'Ledger', mono: true, cell: ({ ledger }) => ledger },
        {
          name: 'Amount',
          align: 'right',
          cell: ({ amountMicros }) => <Money micros={amountMicros} />,
        },
      ]}
      empty={null}
    />
  )
}
