import { Text } from '@mantine/core'
import type { QueryParams } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import { Histogram } from '../charts/lazy-charts.tsx'
import { LogLink } from '../charts/log-link.tsx'
import { countedFilters, searchOfChart } from '../charts/log-search.ts'
import { QueryContent } from '../components/query-content.tsx'
import { formatCount } from '../format/numbers.ts'
import { NoData } from '../layout/card-row.tsx'
import { Panel } from '../layout/panel.tsx'

const texts = {
  similarity: {
    title: 'Similarity of best matches',
    empty:
      'Scores of svc.verify calls, and of svc.identify calls that return a match, appear here.',
    hint: 'Set the threshold between the two peaks.',
    action: undefined,
  },
  liveness: {
    title: 'Liveness scores',
    empty: 'Scores of svc.liveness calls, and of calls with requireLiveness, appear here.',
    hint: 'Live faces have high scores.',
    action: 'svc.liveness',
  },
} as const

type Props = { readonly kind: keyof typeof texts; readonly filters: QueryParams }

/** The distribution of the scores around the threshold, to choose a threshold. */
export function ScoresPanel({ kind, filters }: Props) {
  const query = useApiQuery('/analytics/scores', { query: { ...filters, kind } })
  const { title, empty, hint, action } = texts[kind]
  // The log contains no scores: it shows the calls of the period.
  const counted = countedFilters(filters, query.data)
  const search = searchOfChart([], { ...counted, action, result: 'ok' })
  return (
    <Panel title={title} actions={<LogLink search={search} of={`of ${title}`} />}>
      <QueryContent query={query}>
        {({ edges, counts, threshold, matched, total }) =>
          total === 0 ? (
            <NoData title="No scores in this period">{empty}</NoData>
          ) : (
            <>
              <Histogram
                label={`${title}: ${matched} of ${total} passed`}
                edges={edges}
                counts={counts}
                threshold={threshold}
                search={search}
              />
              <Text size="xs" c="dimmed">
                {formatCount(matched)} of {formatCount(total)} passed. {hint}
              </Text>
            </>
          )
        }
      </QueryContent>
    </Panel>
  )
}
