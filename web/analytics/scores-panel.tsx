import { Text } from '@mantine/core'
import type { QueryParams } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import { Histogram } from '../charts/lazy-charts.tsx'
import { LogLink } from '../charts/log-link.tsx'
import { countedFilters, searchOfChart } from '../charts/log-search.ts'
import { valleyBetweenPeaks } from '../charts/score-peaks.ts'
import { QueryContent } from '../components/query-content.tsx'
import { formatCount } from '../format/numbers.ts'
import { NoData } from '../layout/card-row.tsx'
import { Panel } from '../layout/panel.tsx'

const texts = {
  similarity: {
    title: 'Similarity of best matches',
    empty:
      'Scores of svc.verify calls, and of svc.identify calls that return a match, appear here.',
    note: 'Faces for which svc.identify returns no match have no similarity and are not counted. ',
    hint: similarityHint,
    action: undefined,
  },
  liveness: {
    title: 'Liveness scores',
    empty: 'Scores of svc.liveness calls, and of calls with requireLiveness, appear here.',
    note: '',
    hint: () => 'Live faces have high scores.',
    action: 'svc.liveness',
  },
} as const

/** States where a threshold separates two groups of scores, if there are two. */
function similarityHint(edges: readonly number[], counts: readonly number[]): string {
  const valley = valleyBetweenPeaks(counts)
  return valley === undefined
    ? 'The scores have one peak, so that they show no threshold. The page of a project shows both errors of a threshold.'
    : `Set the threshold between the two peaks, at about ${(edges[valley] ?? 0).toFixed(2)}.`
}

type Props = { readonly kind: keyof typeof texts; readonly filters: QueryParams }

/** The distribution of the scores around the threshold, to choose a threshold. */
export function ScoresPanel({ kind, filters }: Props) {
  const query = useApiQuery('/analytics/scores', { query: { ...filters, kind } })
  const { title, empty, note, hint, action } = texts[kind]
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
                {formatCount(matched)} of {formatCount(total)} passed. {note}
                {hint(edges, counts)}
              </Text>
            </>
          )
        }
      </QueryContent>
    </Panel>
  )
}
