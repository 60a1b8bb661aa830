import { Checkbox, Text } from '@mantine/core'
import type { SuspectedDuplicate } from '../../api/responses.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { ShortId } from '../../components/names/short-id.tsx'
import { subjectNameOf } from '../../format/subject-name.ts'
import { DataTable } from '../../lists/data-table.tsx'

type Props = {
  /** The excluded pairs first. */
  readonly pairs: readonly SuspectedDuplicate[]
  readonly tickedKeys: ReadonlySet<string>
  readonly onChange: (tickedKeys: ReadonlySet<string>) => void
}

/** Identifies a pair in the list. */
export function pairKeyOf({ subjectA, subjectB }: SuspectedDuplicate): string {
  return `${subjectA.subjectId} ${subjectB.subjectId}`
}

/** Pairs of subjects that are probably one person. Only ticked pairs are left out. */
export function SuspectedDuplicates({ pairs, tickedKeys, onChange }: Props) {
  const change = (key: string, isTicked: boolean): void =>
    onChange(isTicked ? tickedKeys.union(new Set([key])) : tickedKeys.difference(new Set([key])))
  return (
    <section>
      <Text fw={600}>Suspected duplicates</Text>
      <Text size="sm" c="dimmed">
        Fewer than one pair of different people is expected to reach these scores. Check each pair,
        and tick it only if it is one person. Siblings are listed too.
      </Text>
      <DataTable
        caption="Suspected duplicates"
        rows={pairs}
        rowKey={pairKeyOf}
        columns={[
          {
            name: 'Same person',
            renderCell: (pair) => (
              <Checkbox
                aria-label={`Same person: ${subjectNameOf(pair.subjectA)} and ${subjectNameOf(pair.subjectB)}`}
                checked={tickedKeys.has(pairKeyOf(pair))}
                onChange={(event) => change(pairKeyOf(pair), event.currentTarget.checked)}
              />
            ),
          },
          ...(['subjectA', 'subjectB'] as const).flatMap((key) => [
            {
              name: key === 'subjectA' ? 'Subject A' : 'Subject B',
              renderCell: (pair: SuspectedDuplicate) => (
                <ShortId label="subject id" id={pair[key].subjectId} />
              ),
            },
            {
              name: key === 'subjectA' ? 'External id A' : 'External id B',
              renderCell: (pair: SuspectedDuplicate) => pair[key].externalId ?? '',
            },
          ]),
          {
            name: 'Similarity, model',
            align: 'right',
            renderCell: ({ similarity }) => similarity.toFixed(3),
          },
          {
            name: 'Expected pairs',
            align: 'right',
            renderCell: ({ expected }) => expected.toPrecision(2),
          },
        ]}
        empty={<EmptyState title="No suspected duplicates">All subjects differ.</EmptyState>}
      />
    </section>
  )
}
