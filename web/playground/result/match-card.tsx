import { Stack, Text } from '@mantine/core'
import type { ActionValues, CandidateValue } from './action-values.ts'
import { subjectNameOf } from '../../format/subject-name.ts'
import { ScoreBar } from './score-bar.tsx'
import { VerdictLine } from './verdict-line.tsx'

type VerifyCardProps = { readonly value: ActionValues['svc.verify']; readonly threshold: number }

/** Whether two faces belong to one person. */
export function VerifyCard({ value, threshold }: VerifyCardProps) {
  const { similarity } = value
  const isMatch = similarity >= threshold
  return (
    <Stack gap="sm">
      <VerdictLine tone={isMatch ? 'good' : 'bad'} text={isMatch ? 'Match' : 'No match'} />
      <ScoreBar
        label="Similarity"
        value={similarity}
        text={`${similarity.toFixed(4)} (threshold ${threshold.toFixed(2)})`}
        tone={isMatch ? 'good' : 'bad'}
        mark={threshold}
      />
      <Text size="xs" c="dimmed">
        {value.mode === 'imageToSubject'
          ? 'The image was compared with the subject.'
          : 'Image 0 was compared with image 1.'}{' '}
        {calibrationText(value.calibration)}
      </Text>
    </Stack>
  )
}

type IdentifyCardProps = {
  readonly value: ActionValues['svc.identify']
  /** The image in the call. */
  readonly imageIndex: number
  readonly threshold: number
}

/** The candidates of each face of an image. */
export function IdentifyCard({ value, imageIndex, threshold }: IdentifyCardProps) {
  const below = value.debug?.candidatesBelowThreshold ?? []
  const isLower = threshold < value.threshold
  return (
    <Stack gap="sm">
      {value.faces.map(({ faceIndex, candidates }) => (
        <FaceCandidates
          key={faceIndex}
          title={
            value.faces.length > 1
              ? `Image ${imageIndex}, face #${faceIndex}`
              : `Image ${imageIndex}`
          }
          // Without debug, the response contains no candidate below the threshold of the call.
          candidates={
            value.faces.length === 1 ? uniqueCandidates([...candidates, ...below]) : candidates
          }
          threshold={threshold}
        />
      ))}
      {value.candidates && (
        <FaceCandidates
          title="Stored face"
          candidates={uniqueCandidates([...value.candidates, ...below])}
          threshold={threshold}
        />
      )}
      {isLower && below.length === 0 && (
        <Text size="xs" c="dimmed">
          Candidates below {value.threshold.toFixed(2)} are not in this response. Run the action
          with Debug to include them.
        </Text>
      )}
      <Text size="xs" c="dimmed">
        Searched {value.gallerySize} {value.gallerySize === 1 ? 'subject' : 'subjects'}. Threshold
        of the call: {value.threshold.toFixed(2)}, {thresholdSources[value.thresholdSource]}.{' '}
        {calibrationText(value.calibration)}
      </Text>
    </Stack>
  )
}

const thresholdSources = {
  request: 'from the request',
  project: 'the default of the project',
  auto: 'chosen for the size of the gallery',
} as const

type FaceCandidatesProps = {
  readonly title: string
  readonly candidates: readonly CandidateValue[]
  readonly threshold: number
}

function FaceCandidates({ title, candidates, threshold }: FaceCandidatesProps) {
  const [best] = candidates
  const isMatch = best !== undefined && best.similarity >= threshold
  return (
    <Stack gap="xs">
      <VerdictLine
        tone={isMatch ? 'good' : 'bad'}
        text={`${title}: ${isMatch ? subjectNameOf(best) : 'no match'}`}
      />
      {candidates.map((candidate) => (
        <ScoreBar
          key={candidate.subjectId}
          label={subjectNameOf(candidate)}
          value={candidate.similarity}
          text={`${candidate.similarity.toFixed(4)} ${candidate.similarity >= threshold ? 'match' : 'below'}`}
          tone={candidate.similarity >= threshold ? 'good' : 'bad'}
          mark={threshold}
        />
      ))}
    </Stack>
  )
}

function uniqueCandidates(candidates: readonly CandidateValue[]): CandidateValue[] {
  const bySubject = new Map(candidates.map((candidate) => [candidate.subjectId, candidate]))
  return [...bySubject.values()].toSorted((a, b) => b.similarity - a.similarity)
}

function calibrationText(calibration: 'gallery' | 'model' | 'pictures'): string {
  return {
    gallery: 'Similarities were calibrated on this gallery.',
    model: 'Similarities use the calibration of the model.',
    pictures:
      'Similarities use the calibration of the model, which holds only for pictures like those it was measured on.',
  }[calibration]
}
