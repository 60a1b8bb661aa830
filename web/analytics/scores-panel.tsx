import { Text } from '@mantine/core'
import type { QueryParams } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import { Histogram } from '../charts/lazy-charts.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { formatCount } from '../format/numbers.ts'
import { Panel } from '../layout/panel.tsx'

const texts = {
  similarity: {
    title: 'Similarity of best matches',
    empty:
      'Each svc.verify adds its similarity here, and each svc.identify that of the person it names.',
    hint: 'Two hills with a valley between them are good; the threshold belongs into the valley.',
  },
  liveness: {
    title: 'Liveness scores',
    empty: 'Each svc.liveness, and each call with requireLiveness, adds its score here.',
    hint: 'Live pictures gather on the right.',
  },
} as const

type Props = { readonly kind: keyof typeof texts; readonly filters: QueryParams }

/** How the scores lie about the threshold: what one tunes it by. */
export function ScoresPanel({ kind, filters }: Props) {
  const asked = useApiQuery('/analytics/scores', { query: { ...filters, kind } })
  const { title, empty, hint } = texts[kind]
  return (
    <Panel title={title}>
      <QueryContent query={asked}>
        {({ edges, counts, threshold, matched, total }) =>
          total === 0 ? (
            <EmptyState title="No scores in this period">{empty}</EmptyState>
          ) : (
            <>
              <Histogram
                label={`${title}: ${matched} of ${total} passed`}
                edges={edges}
                counts={counts}
                threshold={threshold}
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
