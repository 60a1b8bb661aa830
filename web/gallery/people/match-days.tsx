import { Anchor, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ConsoleSubject, MatchDays } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { largestSeries } from '../../analytics/largest-series.tsx'
import { CountChart } from '../../charts/lazy-charts.tsx'
import { QueryContent } from '../../components/query-content.tsx'
import { formatCount, formatQuantity } from '../../format/numbers.ts'
import { DataTable } from '../../lists/data-table.tsx'

const dayMs = 86_400_000

type Props = { readonly projectId: string; readonly subject: ConsoleSubject }

/** On how many calls of each of the last 90 days the person was matched. */
export function SubjectMatchDays({ projectId, subject: { subjectId } }: Props) {
  const query = useApiQuery('/projects/:projectId/subjects/:subjectId/match-days', {
    pathParams: { projectId, subjectId },
  })
  return (
    <Stack gap="sm" component="section" aria-label="Matches per day">
      <Title order={3}>Matches per day</Title>
      <QueryContent query={query}>
        {(found) =>
          found.items.length > 0 ? (
            <MatchChart {...found} />
          ) : (
            <NoMatches projectId={projectId} days={found.dayCount} />
          )
        }
      </QueryContent>
    </Stack>
  )
}

function MatchChart({ lastDay, dayCount, projects, items }: MatchDays) {
  const lastMs = Date.parse(lastDay)
  const days = Array.from({ length: dayCount }, (_, index) =>
    new Date(lastMs - (dayCount - 1 - index) * dayMs).toISOString(),
  )
  const matchesOn = (day: string) => items.filter((item) => day.startsWith(item.day))
  const series = projects.flatMap(({ projectId, name }, order) => {
    const own = items.filter((item) => item.projectId === projectId)
    const values = days.map((day) => sumOf(own.filter((item) => day.startsWith(item.day))))
    return own.length > 0 ? [{ name, order, values, total: sumOf(own) }] : []
  })
  const rows = days
    .map((day) => ({ day: day.slice(0, 10), matches: sumOf(matchesOn(day)) }))
    .filter(({ matches }) => matches > 0)
  return (
    <>
      <Text size="sm">
        {formatQuantity(sumOf(rows), 'call')} matched this person on{' '}
        {formatQuantity(rows.length, 'day')} of the last {dayCount}. Days are in UTC.
      </Text>
      <CountChart
        label={`Matches per day of the last ${dayCount} days, UTC`}
        buckets={days}
        series={largestSeries(series.toSorted((a, b) => b.total - a.total))}
      />
      <details>
        <summary>Matches per day as a table</summary>
        <DataTable
          caption="Days with matches"
          rows={rows.toReversed()}
          rowKey={({ day }) => day}
          columns={[
            { name: 'Day (UTC)', renderCell: ({ day }) => day },
            { name: 'Matches', align: 'right', renderCell: ({ matches }) => formatCount(matches) },
          ]}
          empty={null}
        />
      </details>
    </>
  )
}

function sumOf(items: readonly { readonly matches: number }[]): number {
  return items.reduce((sum, { matches }) => sum + matches, 0)
}

function NoMatches({ projectId, days }: { readonly projectId: string; readonly days: number }) {
  const mayWrite = useHasRole('admin')
  const project = useApiQuery('/projects/:projectId', { pathParams: { projectId } })
  const name = 'Count matches per day'
  if (!project.data) return null
  if (project.data.switches.matchDays)
    return <Text size="sm">No call matched this person in the last {days} days.</Text>
  return (
    <Text size="sm">
      This project does not count the matches of a person. The setting{' '}
      {mayWrite ? (
        <Anchor
          inherit
          underline="always"
          renderRoot={(props) => <Link {...props} to="/projects/$id" params={{ id: projectId }} />}
        >
          {name}
        </Anchor>
      ) : (
        name
      )}{' '}
      of the project starts it.
    </Text>
  )
}
