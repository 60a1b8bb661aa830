import { SegmentedControl, Text } from '@mantine/core'
import { useState } from 'react'
import type { QueryParams } from '../api/api.ts'
import type { ConsoleResponses } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { formatCount, formatPercentage } from '../format/numbers.ts'
import { NoData } from '../layout/card-row.tsx'
import { Panel } from '../layout/panel.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { groupColumn } from './group-column.tsx'

type Cameras = ConsoleResponses['/analytics/cameras']
type Key = Cameras['keys'][number]
type ShownMeasure = Cameras['measures'][number]

type Props = { readonly filters: QueryParams }

/** What the calls of each key decided, week by week. A key usually belongs to one camera. */
export function CamerasPanel({ filters }: Props) {
  const query = useApiQuery('/analytics/cameras', { query: filters })
  const [chosen, setChosen] = useState<string>('withoutFace')
  return (
    <Panel
      title="Cameras by week"
      actions={
        query.data && (
          <SegmentedControl
            aria-label="Measure"
            size="xs"
            data={query.data.measures.map(({ measure, name }) => ({ value: measure, label: name }))}
            value={chosen}
            onChange={setChosen}
          />
        )
      }
    >
      <QueryContent query={query}>
        {({ weeks, measures, keys, keyCount }) => {
          const measure = measures.find((one) => one.measure === chosen)
          if (keys.length === 0 || !measure)
            return <NoData title="No calls in eight weeks">Decided calls appear here.</NoData>
          return (
            <>
              <DataTable
                caption={`${measure.name} by key and week`}
                rows={keys}
                rowKey={({ keyId }) => keyId}
                columns={[
                  { name: 'Key', renderCell: (key) => <KeyCell row={key} /> },
                  ...weeks.map((startUtc, week) => ({
                    name: `from ${startUtc.slice(5, 10)}`,
                    align: 'right' as const,
                    renderCell: (key: Key) => <WeekCell row={key} {...{ measure, week }} />,
                  })),
                ]}
                empty={null}
              />
              <Text size="xs" c="dimmed">
                Weeks end now, UTC. A change is stated if the last week is clearly worse than the
                four weeks before, with at least 50 calls each.
                {keyCount > keys.length &&
                  ` The table contains ${keys.length} of ${keyCount} keys, those with changes first.`}
              </Text>
            </>
          )
        }}
      </QueryContent>
    </Panel>
  )
}

function KeyCell({ row: { keyId, name, changes } }: { readonly row: Key }) {
  return (
    // A block: as a part of a Stack, the link would be a target on its own, too small for a finger.
    <div>
      {groupColumn('key', {}).renderCell({ id: keyId, name })}
      {changes.map(({ measure, text }) => (
        <Text key={measure} size="xs" c="var(--fg-warn)">
          {text}.
        </Text>
      ))}
    </div>
  )
}

type WeekProps = { readonly row: Key; readonly measure: ShownMeasure; readonly week: number }

function WeekCell({ row, measure: { measure, kind }, week }: WeekProps) {
  const value = row.values[measure][week] ?? null
  const isChanged = week === row.calls.length - 1 && row.changes.some((c) => c.measure === measure)
  return (
    <Text
      span
      size="sm"
      fw={isChanged ? 700 : undefined}
      title={`${formatCount(row.calls[week] ?? 0)} calls`}
    >
      {kind === 'share' || value === null
        ? formatPercentage(value)
        : value.toFixed(measure === 'quality' ? 0 : 2)}
    </Text>
  )
}
