import { Text } from '@mantine/core'
import type { Query } from '../api/api.ts'
import { useAnswer } from '../api/use-api.ts'
import { Histogram } from '../charts/lazy-chart.tsx'
import { Answered } from '../parts/answered.tsx'
import { Empty } from '../parts/empty.tsx'
import { countOf } from '../parts/numbers.ts'
import { Panel } from '../parts/panel.tsx'

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

type Parts = { readonly kind: keyof typeof texts; readonly filters: Query }

/** How the scores lie about the threshold: what one tunes it by. */
export function ScoresPanel({ kind, filters }: Parts) {
  const asked = useAnswer('/analytics/scores', { query: { ...filters, kind } })
  const { title, empty, hint } = texts[kind]
  return (
    <Panel title={title}>
      <Answered asked={asked}>
        {({ edges, counts, threshold, matched, total }) =>
          total === 0 ? (
            <Empty title="No scores in this period">{empty}</Empty>
          ) : (
            <>
              <Histogram
                label={`${title}: ${matched} of ${total} passed`}
                edges={edges}
                counts={counts}
                threshold={threshold}
              />
              <Text size="xs" c="dimmed">
                {countOf(matched)} of {countOf(total)} passed. {hint}
              </Text>
            </>
          )
        }
      </Answered>
    </Panel>
  )
}
