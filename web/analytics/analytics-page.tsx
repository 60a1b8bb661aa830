import { SegmentedControl, SimpleGrid } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useApiQuery } from '../api/use-api.ts'
import { CallsPanel } from './calls-panel.tsx'
import { LatencyPanel } from './latency-panel.tsx'
import { ScoresPanel } from './scores-panel.tsx'
import { SpendPanel } from './spend-panel.tsx'
import { ChoiceFilter, FilterBar } from '../lists/filters.tsx'
import { KeyFilter } from '../lists/key-filter.tsx'
import { Page } from '../layout/page.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'

const route = getRouteApi('/analytics')

const groupings = [
  { value: 'action', label: 'Action' },
  { value: 'project', label: 'Project' },
  { value: 'key', label: 'Key' },
  { value: 'code', label: 'Result' },
]

/** Calls, speed, scores and spend over time. Buckets are hours or days of UTC. */
export function AnalyticsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { by = 'action', projectId, action, keyId, fromUtc, toUtc, bucket } = search
  const actions = useApiQuery('/actions')
  const change = (changed: Partial<typeof search>): void =>
    void navigate({ search: (old) => ({ ...old, ...changed }) })
  const filters = { projectId, action, keyId, fromUtc, toUtc, bucket }
  return (
    <Page
      title="Analytics"
      description="Counted as calls are answered, exact in UTC. Without a period: the last 24 hours."
      actions={
        <SegmentedControl
          aria-label="Counted by"
          size="xs"
          data={groupings}
          value={by}
          onChange={(value) => change({ by: value })}
        />
      }
    >
      <FilterBar onClear={() => void navigate({ search: { projectId, by: search.by } })}>
        <ChoiceFilter
          label="Action"
          value={action}
          options={(actions.data ?? []).map(({ name }) => name)}
          onChange={(value) => change({ action: value })}
        />
        <KeyFilter
          projectId={projectId}
          value={keyId}
          onChange={(value) => change({ keyId: value })}
        />
        <ChoiceFilter
          label="Bucket"
          value={bucket}
          options={['hour', 'day']}
          placeholder="As fits"
          onChange={(value) => change({ bucket: value })}
        />
        <PeriodFilter fromUtc={fromUtc} toUtc={toUtc} onChange={change} />
      </FilterBar>
      <SimpleGrid cols={{ base: 1, xl: 2 }}>
        <CallsPanel groupBy={by} filters={filters} />
        <LatencyPanel filters={filters} />
        <ScoresPanel kind="similarity" filters={{ projectId, fromUtc, toUtc }} />
        <ScoresPanel kind="liveness" filters={{ projectId, fromUtc, toUtc }} />
        <SpendPanel groupBy={by} filters={filters} />
      </SimpleGrid>
    </Page>
  )
}
