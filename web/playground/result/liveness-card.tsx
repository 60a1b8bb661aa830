import { List, Stack, Text } from '@mantine/core'
import type { ActionValues, LivenessResultValue } from './action-values.ts'
import { judgeLiveness, type JudgedVerdict } from './judge.ts'
import { ScoreBar } from './score-bar.tsx'
import { VerdictLine, type VerdictTone } from './verdict-line.tsx'
import { livenessReasonTexts, stepTexts, verdictTexts } from './words.ts'

const tones: Readonly<Record<JudgedVerdict, VerdictTone>> = {
  live: 'good',
  spoof: 'bad',
  notLive: 'bad',
  uncertain: 'unsure',
}

type Props = {
  readonly value: LivenessResultValue & Pick<ActionValues['svc.liveness'], 'challenge'>
  readonly threshold: number
}

/** The liveness decision with its score and its reasons in words. */
export function LivenessCard({ value, threshold }: Props) {
  const verdict = judgeLiveness(value, threshold)
  const { score, reasons, challenge } = value
  return (
    <Stack gap="sm">
      <VerdictLine tone={tones[verdict]} text={verdictTexts[verdict]} />
      <ScoreBar
        label="Liveness score"
        value={score}
        text={`${score.toFixed(3)} (live from ${threshold.toFixed(2)})`}
        tone={score >= threshold ? 'good' : 'bad'}
        mark={threshold}
      />
      {reasons.length > 0 && (
        <List size="sm" aria-label="Reasons">
          {reasons.map((reason) => (
            <List.Item key={reason}>{livenessReasonTexts[reason]}</List.Item>
          ))}
        </List>
      )}
      {challenge && <ChallengeSteps challenge={challenge} />}
    </Stack>
  )
}

type ChallengeStepsProps = {
  readonly challenge: NonNullable<ActionValues['svc.liveness']['challenge']>
}

function ChallengeSteps({ challenge }: ChallengeStepsProps) {
  return (
    <>
      <Text size="sm" fw={600}>
        {challenge.passed ? 'Challenge passed' : 'Challenge not passed'}
      </Text>
      <List size="sm" type="ordered" aria-label="Steps of the challenge">
        {challenge.steps.map(({ step, passed, imageIndex }, index) => (
          // A challenge can contain a step twice; the order never changes.
          // oxlint-disable-next-line react/no-array-index-key
          <List.Item key={index}>
            {stepTexts[step]}:{' '}
            {passed ? `done${imageIndex === null ? '' : ` in image ${imageIndex}`}` : 'not seen'}
          </List.Item>
        ))}
      </List>
    </>
  )
}
