import { Anchor, Button, SegmentedControl, SimpleGrid, Stack } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Overview } from '../api/answers.ts'
import { useAnswer } from '../api/use-api.ts'
import { CountChart } from '../charts/lazy-chart.tsx'
import { AlertList } from '../overview/alert-list.tsx'
import { BudgetMeters } from '../overview/budget-meters.tsx'
import { Answered } from '../parts/answered.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { Figure } from '../parts/figure.tsx'
import { Money } from '../parts/money.tsx'
import { countOf, durationOf, shareOf } from '../parts/numbers.ts'
import { Page } from '../parts/page.tsx'
import { LinkButton } from '../parts/link-button.tsx'
import { Panel } from '../parts/panel.tsx'

const route = getRouteApi('/')

const spans = [
  { value: '1', label: '24 h' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
]

/** How the service does: calls, speed, money, faults, what the galleries hold. */
export function OverviewPage() {
  const { projectId, days = '1' } = route.useSearch()
  const navigate = route.useNavigate()
  const asked = useAnswer('/overview', { query: { projectId, days } })
  return (
    <Page
      title="Overview"
      lead="Calls, speed, money and faults. Every time is UTC."
      actions={
        <>
          <SegmentedControl
            aria-label="Period"
            size="xs"
            data={spans}
            value={days}
            onChange={(value) => void navigate({ search: (old) => ({ ...old, days: value }) })}
          />
          <Button size="xs" variant="default" onClick={() => void asked.refetch()}>
            Refresh
          </Button>
        </>
      }
    >
      <Answered asked={asked}>{(overview) => <Content overview={overview} />}</Answered>
    </Page>
  )
}

function Content({ overview }: { readonly overview: Overview }) {
  return (
    <Stack>
      <AlertList alerts={overview.alerts} />
      <Figures overview={overview} />
      <Panel title="Calls over time">
        {overview.calls === 0 ? <FirstSteps /> : <CallChart overview={overview} />}
      </Panel>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Panel title="Budgets">
          <BudgetMeters budgets={overview.budgets} />
        </Panel>
        <Panel title="Errors by code">
          <TopErrors overview={overview} />
        </Panel>
      </SimpleGrid>
      <Panel title="Galleries">
        <Galleries overview={overview} />
      </Panel>
    </Stack>
  )
}

function Figures({ overview }: { readonly overview: Overview }) {
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      <Figure
        label="Calls"
        value={countOf(overview.calls)}
        note={`${countOf(overview.billed)} billed`}
      />
      <Figure label="Success" value={shareOf(overview.okShare)} note="answered ok" />
      <Figure label="Median" value={durationOf(overview.p50Ms)} note="half are faster" />
      <Figure label="p95" value={durationOf(overview.p95Ms)} note="19 of 20 are faster" />
      <Figure label="Spent" value={<Money micros={overview.spentMicros} />} note="in this period" />
      <Figure
        label="Wallet"
        value={<Money micros={overview.walletMicros} />}
        note="not yet allocated"
      />
    </SimpleGrid>
  )
}

function CallChart({ overview }: { readonly overview: Overview }) {
  const { series } = overview
  return (
    <CountChart
      label={`${overview.calls} calls, by hour or day, failed ones apart`}
      buckets={series.map(({ atUtc }) => atUtc)}
      series={[
        { name: 'ok', values: series.map(({ calls, errors }) => calls - errors) },
        { name: 'failed', values: series.map(({ errors }) => errors) },
      ]}
    />
  )
}

function FirstSteps() {
  return (
    <Empty
      title="No calls in this period"
      action={
        <LinkButton to="/playground" size="xs">
          Try it in the playground
        </LinkButton>
      }
    >
      Make a key under API keys and send a picture to POST /v1/face/execute, or try any action on a
      picture of yours in the playground. Each call appears here within a second.
    </Empty>
  )
}

function TopErrors({ overview }: { readonly overview: Overview }) {
  return (
    <DataTable
      caption="Errors by code"
      rows={overview.topErrors}
      keyOf={({ code }) => code}
      columns={[
        {
          name: 'Code',
          cell: ({ code }) => (
            <Anchor
              size="sm"
              renderRoot={(props) => <Link {...props} to="/log" search={{ code }} />}
            >
              {code}
            </Anchor>
          ),
        },
        { name: 'Calls', align: 'right', cell: ({ count }) => countOf(count) },
      ]}
      empty={<Empty title="No errors">Failed calls are counted here by their code.</Empty>}
    />
  )
}

function Galleries({ overview }: { readonly overview: Overview }) {
  return (
    <DataTable
      caption="Galleries"
      rows={overview.galleries}
      keyOf={({ galleryId }) => galleryId}
      columns={[
        { name: 'Gallery', cell: ({ name }) => name },
        { name: 'Subjects', align: 'right', cell: ({ subjects }) => countOf(subjects) },
        { name: 'Templates', align: 'right', cell: ({ templates }) => countOf(templates) },
      ]}
      empty={<Empty title="No gallery yet">A project brings its gallery with it.</Empty>}
    />
  )
}
