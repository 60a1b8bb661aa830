import { Button, Group, Stack, Text } from '@mantine/core'
import type { PlaygroundSettings } from '../../api/responses.ts'
import { subjectNameOf } from '../../format/subject-name.ts'
import type { CandidateValue } from '../../playground/result/action-values.ts'
import { falseMatchRateAt, formatRate } from '../../playground/result/judge.ts'
import { ScoreBar } from '../../playground/result/score-bar.tsx'
import { SubjectThumbnail } from '../subjects/subject-thumbnail.tsx'

type Props = {
  readonly projectId: string
  readonly candidate: CandidateValue
  readonly faceId: string | undefined
  readonly settings: PlaygroundSettings
  /** The threshold of the search, to show candidates below it. */
  readonly threshold?: number
  readonly onOpen: (subjectId: string) => void
  /** Without it the candidate cannot be merged. */
  readonly onMerge?: (subjectId: string) => void
}

/** A subject that a search found, with its face, its similarity and the meaning of it. */
export function CandidateRow({ projectId, candidate, faceId, settings, ...props }: Props) {
  const { subjectId, similarity } = candidate
  const { threshold, onOpen, onMerge } = props
  const name = subjectNameOf(candidate)
  const rate = falseMatchRateAt(settings.falseMatchRates, similarity)
  const isMatch = threshold === undefined ? undefined : similarity >= threshold
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start">
      <SubjectThumbnail projectId={projectId} subjectId={subjectId} faceId={faceId} sizePx={56} />
      <Stack gap={4} style={{ flex: 1, minWidth: 0 }}>
        <ScoreBar
          label={name}
          value={similarity}
          text={`${similarity.toFixed(4)}${isMatch === undefined ? '' : isMatch ? ' match' : ' below'}`}
          {...(isMatch !== undefined && { tone: isMatch ? 'good' : 'bad' })}
          {...(threshold !== undefined && { mark: threshold })}
        />
        {rate && (
          <Text size="xs" c="dimmed">
            False-match rate at this similarity: {formatRate(rate)}.
          </Text>
        )}
        <Group gap="xs">
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Open subject ${name}`}
            onClick={() => onOpen(subjectId)}
          >
            Open
          </Button>
          {onMerge && (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={`Merge with ${name}`}
              onClick={() => onMerge(subjectId)}
            >
              Merge
            </Button>
          )}
        </Group>
      </Stack>
    </Group>
  )
}
