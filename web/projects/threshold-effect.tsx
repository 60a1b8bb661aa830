import { Text } from '@mantine/core'
import type { ConsoleProject } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { formatCount } from '../format/numbers.ts'
import { falseMatchRateAt, formatRate } from '../playground/result/judge.ts'

type Props = {
  readonly project: ConsoleProject
  /** 0 to 1. */
  readonly threshold: number
}

/** States the false-match rate of a threshold and the recent decisions that it would change. */
export function ThresholdEffect({ project, threshold }: Props) {
  const { projectId, subjects } = project
  const settings = useApiQuery('/playground/settings')
  const decisions = useApiQuery('/projects/:projectId/threshold-decisions', {
    pathParams: { projectId },
    query: { threshold: String(threshold) },
  })
  if (!settings.data || !decisions.data) return <Text size="sm">Counting the decisions…</Text>
  const rate = falseMatchRateAt(settings.data.falseMatchRates, threshold)
  const { days, calls, isCapped, newMatches, lostMatches } = decisions.data
  return (
    <Text size="sm" component="div">
      {rate && (
        <p>
          At {threshold}, {formatRate(rate)} match. {galleryRateText(rate.rate, subjects)}
        </p>
      )}
      <p>
        Of {isCapped ? 'the latest ' : ''}
        {formatCount(calls)} calls of svc.identify in the last {days} days,{' '}
        <strong>{formatCount(newMatches)}</strong> without a match would have one, and{' '}
        <strong>{formatCount(lostMatches)}</strong> with a match would have none.
      </p>
    </Text>
  )
}

/** A search compares one face with every subject, so that its rate grows with the gallery. */
function galleryRateText(pairRate: number, subjects: number): string {
  if (subjects < 2) return ''
  const searchRate = 1 - (1 - Math.min(1, pairRate)) ** subjects
  const percent = Number((searchRate * 100).toPrecision(2))
  return `With ${formatCount(subjects)} subjects, ${percent} % of searches for other people match one of them.`
}
