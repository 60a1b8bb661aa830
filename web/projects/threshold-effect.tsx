import { Progress, Slider, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { ConsoleProject } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { formatCount, formatPercentage, formatQuantity } from '../format/numbers.ts'
import { falseMatchRateAt, formatRate } from '../playground/result/judge.ts'

type Props = {
  readonly project: ConsoleProject
  /** 0 to 1. */
  readonly threshold: number
}

type SliderProps = {
  readonly project: ConsoleProject
  /** 0 to 1; undefined: the service derives it from the size of the gallery. */
  readonly threshold: number | undefined
  readonly isDisabled: boolean
  readonly onChange: (threshold: number) => void
}

/** The thresholds between which a change needs no confirmation. */
const usualMarks = [
  { value: 0.7, label: '0.70' },
  { value: 0.97, label: '0.97' },
]

/** Time without a change after which the effect of a threshold is counted. */
const debounceMs = 200

/** Sets the threshold by its two errors, which move in opposite directions. */
export function ThresholdSlider({ project, threshold, isDisabled, onChange }: SliderProps) {
  const [counted] = useDebouncedValue(threshold, debounceMs)
  return (
    <Stack gap="xs">
      <Slider
        thumbLabel="Slider of the threshold"
        min={0}
        max={1}
        step={0.01}
        label={null}
        marks={usualMarks}
        mb="lg"
        disabled={isDisabled}
        value={threshold ?? project.automaticThreshold}
        onChange={onChange}
      />
      {/* It keeps its height: a button that moves between press and release is not clicked. */}
      <Text size="xs" c="dimmed" style={counted === undefined ? {} : { visibility: 'hidden' }}>
        The service derives the threshold from the size of the gallery, now{' '}
        {project.automaticThreshold}. Move the slider to set it.
      </Text>
      <ThresholdEffect project={project} threshold={counted ?? project.automaticThreshold} />
    </Stack>
  )
}

/** States both errors of a threshold, and the recent decisions that it would change. */
export function ThresholdEffect({ project, threshold }: Props) {
  const { projectId, subjects } = project
  const settings = useApiQuery('/playground/settings')
  const decisions = useApiQuery('/projects/:projectId/threshold-decisions', {
    pathParams: { projectId },
    query: { threshold: String(threshold) },
  })
  if (!settings.data || !decisions.data)
    return (
      <Text size="sm" mih="10rem">
        Counting the decisions…
      </Text>
    )
  const rate = falseMatchRateAt(settings.data.falseMatchRates, threshold)
  const { days, calls, isCapped, matches, newMatches, lostMatches } = decisions.data
  return (
    <Text size="sm" component="div">
      {rate && (
        <>
          <ErrorMeter
            label="False matches: searches for other people"
            share={searchRateOf(rate.rate, subjects)}
          />
          <p>
            At {threshold}, {formatRate(rate)} match.{' '}
            {subjects > 1 &&
              `A search compares the face with all ${formatCount(subjects)} subjects of the gallery.`}
          </p>
        </>
      )}
      <ErrorMeter
        label={`Enrolled people refused: ${formatQuantity(matches, 'match', 'matches')} of the last ${days} days`}
        share={matches === 0 ? null : lostMatches / matches}
      />
      <p>
        Of {formatQuantity(calls, 'call')} of svc.identify in the last {days} days
        {isCapped ? ', among the latest calls of the project' : ''},{' '}
        <strong>{formatCount(newMatches)}</strong> without a match would have one, and{' '}
        <strong>{formatCount(lostMatches)}</strong> with a match would have none.
      </p>
    </Text>
  )
}

type ErrorMeterProps = { readonly label: string; readonly share: number | null }

/** The rate of one kind of error. */
function ErrorMeter({ label, share }: ErrorMeterProps) {
  const text = `${label}: ${formatPercentage(share)}`
  return (
    <>
      <Text size="sm" fw={600}>
        {text}
      </Text>
      <Progress value={(share ?? 0) * 100} aria-label={text} color="var(--fg-warn)" />
    </>
  )
}

/** A search compares one face with every subject, so that its rate grows with the gallery. */
function searchRateOf(pairRate: number, subjects: number): number {
  return 1 - (1 - Math.min(1, pairRate)) ** Math.max(1, subjects)
}
