import { Anchor, Button, SegmentedControl, SimpleGrid, Stack } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Overview } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { useIsAbsent } from '../api/use-is-absent.ts'
import { CountChart } from '../charts/count-chart.tsx'
import { LogLink } from '../charts/log-link.tsx'
import { searchOfBucket, searchOfChart } from '../charts/log-search.ts'
import { AlertList } from './alert-list.tsx'
import { FirstSteps } from './first-steps.tsx'
import { describeShareTrend, describeTrend } from './trend.ts'
import { BudgetMeters } from './budget-meters.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { StatCard } from '../components/stat-card.tsx'
import { MoneyAmount } from '../money/money-amount.tsx'
import { formatCount, formatDuration, formatPercentage } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { CardRow } from '../layout/card-row.tsx'
import { Panel } from '../layout/panel.tsx'
import { LargestOf } from './largest-of.tsx'

const route = getRouteApi('/')

const periods = [
  { value: '1', label: '24 h' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
]

/** The time between two refreshes of the page. */
const pollMs = 30_000

/** Usage, latency, spend, errors, budgets and galleries. */
export function OverviewPage() {
  const { projectId, days = '1' } = route.useSearch()
  const navigate = route.useNavigate()
  const isAbsent = useIsAbsent()
  const query = useApiQuery('/overview', {
    query: { projectId, days },
    pollMs: () => (isAbsent ? false : pollMs),
  })
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
      <FirstSteps steps={overview.firstSteps} />
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
        {overview.calls === 0 ? <NoCalls /> : <CallChart overview={overview} />}
      </Panel>
      <CardRow>
        {overview.budgets.length > 0 && (
          <Panel title="Budgets">
            <BudgetMeters budgets={overview.budgets} />
          </Panel>
        )}
        {overview.topErrors.length > 0 && (
          <Panel title="Errors by code">
            <TopErrorTable overview={overview} />
          </Panel>
        )}
        {overview.galleries.length > 0 && (
          <Panel
            title="Galleries"
            actions={
              <LinkButton to="/gallery-health" size="compact-sm" variant="default">
                Check a gallery
              </LinkButton>
            }
          >
            <GalleryTable overview={overview} />
          </Panel>
        )}
      </CardRow>
    </Stack>
  )
}

function Statistics({ overview }: { readonly overview: Overview }) {
  const { before } = overview
  const { days } = route.useSearch()
  const earlier = days === '30' ? 'the 30 days before' : 'the week before'
  const spendTrend = describeTrend(
    Number(overview.spentMicros),
    Number(before.spentMicros),
    earlier,
  )
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      <StatCard
        label="Calls"
        value={formatCount(overview.calls)}
        note={joinNotes(
          `${formatCount(overview.billed)} billed`,
          describeTrend(overview.calls, before.calls, earlier),
        )}
      />
      <StatCard
        label="Success rate"
        value={formatPercentage(overview.okShare)}
        note={joinNotes(
          `${formatCount(failedCalls(overview))} failed`,
          describeShareTrend(overview.okShare, before.okShare),
        )}
      />
      <StatCard
        label="p50 latency"
        value={formatDuration(overview.p50Ms)}
        note={describeTrend(overview.p50Ms, before.p50Ms, earlier)}
      />
      <StatCard
        label="p95 latency"
        value={formatDuration(overview.p95Ms)}
        note={describeTrend(overview.p95Ms, before.p95Ms, earlier)}
      />
      <StatCard
        label="Spent"
        value={<MoneyAmount micros={overview.spentMicros} />}
        note={
          BigInt(overview.meteredMicros) > 0n ? (
            <>
              <MoneyAmount micros={overview.meteredMicros} /> not charged
            </>
          ) : (
            (spendTrend ?? 'This period')
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

function joinNotes(...notes: readonly (string | undefined)[]): string {
  return notes.filter((note) => note !== undefined).join('; ')
}

function failedCalls({ series }: Overview): number {
  return series.reduce((sum, { errors }) => sum + errors, 0)
}

function CallChart({ overview }: { readonly overview: Overview }) {
  const { series } = overview
  const { projectId } = route.useSearch()
  const buckets = series.map(({ atUtc }) => atUtc)
  return (
    <CountChart
      label={`${overview.calls} calls over time, successful and failed`}
      buckets={buckets}
      searchOf={(bucketIndex, seriesIndex) =>
        searchOfBucket(buckets, bucketIndex, {
          projectId,
          result: seriesIndex === 0 ? 'ok' : 'failed',
        })
      }
      series={[
        { name: 'ok', values: series.map(({ calls, errors }) => calls - errors) },
        { name: 'failed', values: series.map(({ errors }) => errors) },
      ]}
    />
  )
}

function NoCalls() {
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

function TopErrorTable({ overview }: { readonly overview: Overview }) {
  const failed = failedCalls(overview)
  const period = searchOfChart(overview.series.map(({ atUtc }) => atUtc))
  return (
    <>
      <DataTable
        caption="Errors by code, most frequent first"
        rows={overview.topErrors}
        rowKey={({ code }) => code}
        columns={[
          {
            name: 'Code',
            renderCell: ({ code }) => (
              <Anchor
                size="sm"
                renderRoot={(props) => <Link {...props} to="/log" search={{ ...period, code }} />}
              >
                {code}
              </Anchor>
            ),
          },
          { name: 'Calls', align: 'right', renderCell: ({ count }) => formatCount(count) },
          {
            name: 'Of failures',
            align: 'right',
            renderCell: ({ count }) => formatPercentage(count / failed),
          },
        ]}
        empty={null}
      />
      <LargestOf
        shown={overview.topErrors.length}
        total={overview.errorCodes}
        of="error codes, by calls"
        to="/analytics"
      />
    </>
  )
}

const galleriesMax = 5

function GalleryTable({ overview }: { readonly overview: Overview }) {
  const largest = overview.galleries.toSorted((a, b) => b.subjects - a.subjects)
  const shown = largest.slice(0, galleriesMax)
  return (
    <>
      <DataTable
        caption="Galleries, largest first"
        rows={shown}
        rowKey={({ galleryId }) => galleryId}
        columns={[
          { name: 'Gallery', renderCell: ({ name }) => name },
          {
            name: 'Subjects',
            align: 'right',
            renderCell: ({ subjects }) => formatCount(subjects),
          },
          {
            name: 'Templates',
            align: 'right',
            renderCell: ({ templates }) => formatCount(templates),
          },
        ]}
        empty={null}
      />
      <LargestOf
        shown={shown.length}
        total={largest.length}
        of="galleries, by subjects"
        to="/projects"
      />
    </>
  )
}
