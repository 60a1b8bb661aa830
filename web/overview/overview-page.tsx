import { Anchor, Button, SegmentedControl, SimpleGrid, Stack } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Overview } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { CountChart } from '../charts/lazy-charts.tsx'
import { LogLink } from '../charts/log-link.tsx'
import { searchOfBucket, searchOfChart } from '../charts/log-search.ts'
import { useOpenLog } from '../charts/use-open-log.ts'
import { AlertList } from './alert-list.tsx'
import { BudgetMeters } from './budget-meters.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { StatCard } from '../components/stat-card.tsx'
import { MoneyAmount } from '../money/money-amount.tsx'
import { formatCount, formatDuration, formatPercentage } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { Panel } from '../layout/panel.tsx'

const route = getRouteApi('/')

const periods = [
  { value: '1', label: '24 h' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
]

/** Usage, latency, spend, errors, budgets and galleries. */
export function OverviewPage() {
  const { projectId, days = '1' } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useApiQuery('/overview', { query: { projectId, days } })
  return (
    <Page
      title="Overview"
      description="Usage, latency, spend and errors. All times are in UTC."
      actions={
        <>
          <SegmentedControl
            aria-label="Period"
            size="xs"
            data={periods}
            value={days}
            onChange={(value) => void navigate({ search: (old) => ({ ...old, days: value }) })}
          />
          <Button size="xs" variant="default" onClick={() => void query.refetch()}>
            Refresh
          </Button>
        </>
      }
    >
      <QueryContent query={query}>
        {(overview) => <OverviewContent overview={overview} />}
      </QueryContent>
    </Page>
  )
}

function OverviewContent({ overview }: { readonly overview: Overview }) {
  return (
    <Stack>
      <AlertList alerts={overview.alerts} />
      <Statistics overview={overview} />
      <Panel
        title="Calls"
        actions={
          <LogLink
            search={searchOfChart(overview.series.map(({ atUtc }) => atUtc))}
            of="of this period"
          />
        }
      >
        {overview.calls === 0 ? <FirstSteps /> : <CallChart overview={overview} />}
      </Panel>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Panel title="Budgets">
          <BudgetMeters budgets={overview.budgets} />
        </Panel>
        <Panel title={topErrorsTitle(overview)}>
          <TopErrorTable overview={overview} />
        </Panel>
      </SimpleGrid>
      <Panel title="Galleries">
        <GalleryTable overview={overview} />
      </Panel>
    </Stack>
  )
}

function Statistics({ overview }: { readonly overview: Overview }) {
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      <StatCard
        label="Calls"
        value={formatCount(overview.calls)}
        note={`${formatCount(overview.billed)} billed`}
      />
      <StatCard label="Success rate" value={formatPercentage(overview.okShare)} />
      <StatCard label="p50 latency" value={formatDuration(overview.p50Ms)} />
      <StatCard label="p95 latency" value={formatDuration(overview.p95Ms)} />
      <StatCard
        label="Spent"
        value={<MoneyAmount micros={overview.spentMicros} />}
        note={
          BigInt(overview.meteredMicros) > 0n ? (
            <>
              <MoneyAmount micros={overview.meteredMicros} /> not charged
            </>
          ) : (
            'This period'
          )
        }
      />
      <StatCard
        label="Wallet"
        value={<MoneyAmount micros={overview.walletMicros} />}
        note="Account, not allocated"
      />
    </SimpleGrid>
  )
}

function CallChart({ overview }: { readonly overview: Overview }) {
  const { series } = overview
  const openLog = useOpenLog()
  const buckets = series.map(({ atUtc }) => atUtc)
  return (
    <CountChart
      label={`${overview.calls} calls over time, successful and failed`}
      buckets={buckets}
      onSelect={(bucketIndex, seriesIndex) =>
        openLog(
          searchOfBucket(buckets, bucketIndex, { result: seriesIndex === 0 ? 'ok' : 'failed' }),
        )
      }
      series={[
        { name: 'ok', values: series.map(({ calls, errors }) => calls - errors) },
        { name: 'failed', values: series.map(({ errors }) => errors) },
      ]}
    />
  )
}

function FirstSteps() {
  return (
    <EmptyState
      title="No calls in this period"
      action={
        <LinkButton to="/playground" size="xs">
          Open playground
        </LinkButton>
      }
    >
      Create an API key and send an image to POST /v1/face/execute, or run an action in the
      playground. Calls appear here within one second.
    </EmptyState>
  )
}

function topErrorsTitle({ topErrors, errorCodes }: Overview): string {
  const { length } = topErrors
  return errorCodes > length ? `Errors by code: top ${length} of ${errorCodes}` : 'Errors by code'
}

function TopErrorTable({ overview }: { readonly overview: Overview }) {
  return (
    <DataTable
      caption="Errors by code"
      rows={overview.topErrors}
      rowKey={({ code }) => code}
      columns={[
        {
          name: 'Code',
          renderCell: ({ code }) => (
            <Anchor
              size="sm"
              renderRoot={(props) => <Link {...props} to="/log" search={{ code }} />}
            >
              {code}
            </Anchor>
          ),
        },
        { name: 'Calls', align: 'right', renderCell: ({ count }) => formatCount(count) },
      ]}
      empty={
        <EmptyState title="No errors">Failed calls are counted here by error code.</EmptyState>
      }
    />
  )
}

function GalleryTable({ overview }: { readonly overview: Overview }) {
  return (
    <DataTable
      caption="Galleries"
      rows={overview.galleries}
      rowKey={({ galleryId }) => galleryId}
      columns={[
        { name: 'Gallery', renderCell: ({ name }) => name },
        { name: 'Subjects', align: 'right', renderCell: ({ subjects }) => formatCount(subjects) },
        {
          name: 'Templates',
          align: 'right',
          renderCell: ({ templates }) => formatCount(templates),
        },
      ]}
      empty={<EmptyState title="No galleries">Each project has a gallery.</EmptyState>}
    />
  )
}
