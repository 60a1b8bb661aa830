import { Button, Group, Stack, Text } from '@mantine/core'
import type { ConsoleSubject, PossibleDuplicate, PlaygroundSettings } from '../../api/responses.ts'
import { formatCount } from '../../format/numbers.ts'
import { subjectNameOf } from '../../format/subject-name.ts'
import { falseMatchRateAt, formatRate } from '../../playground/result/judge.ts'
import { ScoreBar } from '../../playground/result/score-bar.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { SubjectLink } from '../subjects/subject-link.tsx'
import { SubjectThumbnail } from '../subjects/subject-thumbnail.tsx'

/** A pair whose subjects exist. The first one has more templates, or is older. */
export type ShownPair = {
  readonly key: string
  readonly pair: PossibleDuplicate
  readonly subjects: readonly [ConsoleSubject, ConsoleSubject]
}

type Props = {
  readonly projectId: string
  readonly shown: ShownPair
  readonly label: string
  readonly faceIdOf: (subjectId: string) => string | undefined
  readonly settings: PlaygroundSettings
  /** Undefined: the user may only read. */
  readonly onMerge: (() => void) | undefined
  readonly onDistinct: (() => void) | undefined
}

/** Two subjects that are probably one person, with the buttons that decide it. */
export function DuplicatePairRow({ projectId, shown, label, faceIdOf, ...props }: Props) {
  const { subjects, pair } = shown
  const names = subjects.map(subjectNameOf).join(' and ')
  return (
    // The keys of the list need a focus on the pair.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <li className="fg-panel fg-pair" data-row tabIndex={0} aria-label={label}>
      <div className="fg-pair-faces">
        {subjects.map((subject) => (
          <PairSubject
            key={subject.subjectId}
            projectId={projectId}
            subject={subject}
            faceId={faceIdOf(subject.subjectId)}
          />
        ))}
      </div>
      <Stack gap="xs">
        <PairSimilarity pair={pair} settings={props.settings} />
        <Group gap="xs">
          {props.onMerge && (
            <Button
              size="xs"
              aria-label={`Same person: ${names}`}
              aria-keyshortcuts="M"
              rightSection={<KeyHint name="M" />}
              onClick={props.onMerge}
            >
              Same person
            </Button>
          )}
          {props.onDistinct && (
            <Button
              size="xs"
              variant="default"
              aria-label={`Not the same: ${names}`}
              aria-keyshortcuts="N"
              rightSection={<KeyHint name="N" />}
              onClick={props.onDistinct}
            >
              Not the same
            </Button>
          )}
        </Group>
      </Stack>
    </li>
  )
}

/** The key of a button. It is no text of the button, whose name is its label. */
function KeyHint({ name }: { readonly name: string }) {
  return <span className="fg-key-hint" data-key={name} aria-hidden />
}

type PairSubjectProps = {
  readonly projectId: string
  readonly subject: ConsoleSubject
  readonly faceId: string | undefined
}

function PairSubject({ projectId, subject, faceId }: PairSubjectProps) {
  const { subjectId, embeddingCount, externalId, groups, createdAtUtc } = subject
  return (
    <Stack gap={4} miw={0}>
      <SubjectThumbnail
        projectId={projectId}
        subjectId={subjectId}
        faceId={faceId}
        sizePx={112}
        alt={`Face of ${subjectNameOf(subject)}`}
      />
      <SubjectLink subject={subject} />
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {externalId !== null && externalId !== subjectNameOf(subject) && `${externalId} · `}
        {formatCount(embeddingCount)} {embeddingCount === 1 ? 'template' : 'templates'}
        {groups.length > 0 && ` · ${groups.join(', ')}`}
      </Text>
      <Text size="xs" c="dimmed">
        Enrolled <UtcTime timestampUtc={createdAtUtc} />
      </Text>
    </Stack>
  )
}

type PairSimilarityProps = {
  readonly pair: PossibleDuplicate
  readonly settings: PlaygroundSettings
}

function PairSimilarity({ pair, settings }: PairSimilarityProps) {
  const rate = falseMatchRateAt(settings.falseMatchRates, pair.similarity)
  return (
    <>
      <ScoreBar label="Similarity" value={pair.similarity} text={pair.similarity.toFixed(4)} />
      <Text size="xs" c="dimmed">
        {rate && `False-match rate at this similarity: ${formatRate(rate)}. `}
        Expected in this gallery, if all subjects are different people: at most{' '}
        {pair.expected.toPrecision(2)} such pairs.
      </Text>
    </>
  )
}
