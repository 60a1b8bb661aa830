import { Text } from '@mantine/core'
import type { MeasuredGalleryTable } from '../../api/responses.ts'
import { formatCount } from '../../format/numbers.ts'
import { DataTable, type Column } from '../../lists/data-table.tsx'

type GroupRow = MeasuredGalleryTable['report']['groups'][number]

/** The rates within and between groups; nothing if the gallery has fewer than two groups. */
export function GroupRates({ groups }: { readonly groups: readonly GroupRow[] }) {
  if (groups.length === 0) return null
  return (
    <section>
      <Text fw={600}>False-match rates by group</Text>
      <DataTable
        caption="False-match rates by group"
        rows={groups}
        rowKey={({ groups: names }) => JSON.stringify(names)}
        columns={columns}
        empty={null}
      />
    </section>
  )
}

const columns: readonly Column<GroupRow>[] = [
  {
    name: 'Groups',
    renderCell: ({ groups: [first, second] }) =>
      first === second ? `within ${first}` : `${first} and ${second}`,
  },
  { name: 'Pairs', align: 'right', renderCell: ({ pairs }) => formatCount(pairs) },
  rateColumn('0.70, model', ({ shipped }) => shipped.fmr1e3),
  rateColumn('0.70, gallery', ({ gallery }) => gallery.fmr1e3),
  rateColumn('0.80, model', ({ shipped }) => shipped.fmr1e4),
  rateColumn('0.80, gallery', ({ gallery }) => gallery.fmr1e4),
]

function rateColumn(name: string, rateOf: (row: GroupRow) => number): Column<GroupRow> {
  return { name, align: 'right', renderCell: (row) => rateOf(row).toExponential(1) }
}
