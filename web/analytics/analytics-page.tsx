import { SegmentedControl } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useApiQuery } from '../api/use-api.ts'
import { CallsPanel } from './calls-panel.tsx'
import { CamerasPanel } from './cameras-panel.tsx'
import { FeedbackPanel } from './feedback-panel.tsx'
import { LatencyPanel } from './latency-panel.tsx'
import { ScoresPanel } from './scores-panel.tsx'
import { SpendPanel } from './spend-panel.tsx'
import { ChoiceFilter, FilterBar } from '../lists/filters.tsx'
import { KeyFilter } from '../lists/key-filter.tsx'
import { CardRow } from '../layout/card-row.tsx'
import { Page } from '../layout/page.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'

const route = getRouteApi('/analytics')

const groupings = [
  { value: 'action', label: 'Action' },
  { value: 'project', label: 'Project' },
  { value: 'key', label: 'Key' },
  { value: 'code', label: 'Result' },
  { value: 'outcome', label: 'Outcome' },
]

/** Calls, latency, scores and spend over time, per hour or day (UTC). */
export function AnalyticsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { by = 'action', projectId, action, keyId, fromUtc, toUtc, bucket } = search
  const period = search.period ?? (fromUtc || toUtc ? undefined : '24h')
  const actions = useApiQuery('/actions')
  const updateSearch = (changes: Partial<typeof search>): void =>
    void navigate({ search: (old) => ({ ...old, ...changes }) })
  const range = { fromUtc, toUtc, period }
  const filters = { projectId, action, keyId, ...range, bucket }
  return (
    <Page
      title="Analytics"
      description="Exact counts per hour or day, in UTC. A period has whole hours, of which the current one is the last."
      actions={
        <SegmentedControl
          aria-label="Group by"
          size="xs"
          data={groupings}
          value={by}
          onChange={(value) => updateSearch({ by: value })}
        />
      }
    >
      <FilterBar
        values={{ action, keyId, bucket, fromUtc, toUtc, period: search.period }}
        onClear={() => void navigate({ search: { projectId, by: search.by } })}
      >
        <ChoiceFilter
          label="Action"
          value={action}
          options={(actions.data ?? []).map(({ name }) => name)}
          onChange={(value) => updateSearch({ action: value })}
        />
        <KeyFilter
          projectId={projectId}
          value={keyId}
          onChange={(value) => updateSearch({ keyId: value })}
        />
        <ChoiceFilter
          label="Interval"
          value={bucket}
          options={['hour', 'day']}
          placeholder="Automatic"
          onChange={(value) => updateSearch({ bucket: value })}
        />
        <PeriodFilter {...range} onChange={updateSearch} />
      </FilterBar>
      <CardRow>
        <CallsPanel groupBy={by} filters={filters} />
        <LatencyPanel filters={filters} />
        <ScoresPanel kind="similarity" filters={{ projectId, ...range }} />
        <ScoresPanel kind="liveness" filters={{ projectId, ...range }} />
        <SpendPanel groupBy={by} filters={filters} />
      </CardRow>
      <FeedbackPanel filters={{ projectId, ...range }} />
      <CamerasPanel filters={{ projectId, keyId }} />
    </Page>
  )
}
