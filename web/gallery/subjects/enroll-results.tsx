import { Box, Button, Group, Stack, Text } from '@mantine/core'
import { LinkButton } from '../../components/link-button.tsx'
import { AnnotatedImage } from '../../playground/images/annotated-image.tsx'
import { faceAnnotationsOf, type FaceAnnotation } from '../../playground/images/face-annotations.ts'
import type { ActionValues } from '../../playground/result/action-values.ts'
import type { ResultEnvelope, ResultProblem } from '../../playground/result/envelope.ts'
import { FailureCard } from '../../playground/result/failure-card.tsx'
import { ScoreBar } from '../../playground/result/score-bar.tsx'
import { VerdictLine } from '../../playground/result/verdict-line.tsx'
import type { PlaygroundRun, RunPicture } from '../../playground/run.ts'
import { subjectNameOf } from '../../format/subject-name.ts'
import { refusalText } from '../../playground/result/refusal-text.ts'

/** The result of each picture of a call of svc.enroll, by its position. */
export type EnrollOutcome = {
  /** The subject that received faces; undefined if the call failed. */
  readonly value: ActionValues['svc.enroll'] | undefined
  readonly refusals: ReadonlyMap<number, ResultProblem>
  /** Failures that belong to no picture. */
  readonly problems: readonly ResultProblem[]
}

/** Reads the outcome of a call. The server validates its responses with the schema of the action. */
export function enrollOutcomeOf({ response, pictures }: PlaygroundRun): EnrollOutcome {
  const { ok, data, errors = [] } = response.envelope as ResultEnvelope
  const value = data?.results[0]?.value as ActionValues['svc.enroll'] | undefined
  if (ok && value) {
    const refused = (value.images ?? []).flatMap(({ index, error }) =>
      error ? [[index, error] as const] : [],
    )
    return { value, refusals: new Map(refused), problems: [] }
  }
  const ofPicture = ({ imageIndex }: ResultProblem): boolean =>
    imageIndex !== undefined && imageIndex < pictures.length
  const refused = errors.filter(ofPicture).map((error) => [error.imageIndex ?? 0, error] as const)
  return {
    value: undefined,
    refusals: new Map(refused),
    problems: errors.filter((error) => !ofPicture(error)),
  }
}

type Props = {
  readonly run: PlaygroundRun
  readonly onOpen: (subjectId: string) => void
  /** Enrolls a picture that is refused because its face differs from the others. */
  readonly onForce: (pictureId: string) => void
  readonly isSending: boolean
  /** The pictures that are still chosen: only these can be sent again. */
  readonly chosenIds: ReadonlySet<string>
}

/** Shows each picture of a call with its face and its result, and the remedy of a refused one. */
export function EnrollResults({ run, onOpen, onForce, isSending, chosenIds }: Props) {
  const { value, refusals, problems } = enrollOutcomeOf(run)
  const { requestId } = run.response.envelope as { readonly requestId: string }
  const annotations = faceAnnotationsOf(run.response.envelope as ResultEnvelope)
  return (
    <output aria-label="Result of the enrollment">
      <Stack gap="sm">
        <VerdictLine {...verdictOf(value, refusals.size, run.pictures.length)} />
        {problems.length > 0 && (
          <FailureCard title="No picture was used" problems={problems} remedyOf={() => undefined} />
        )}
        {run.pictures.map((picture, index) => {
          const refusal = refusals.get(index)
          return (
            <PictureResult
              key={picture.id}
              picture={picture}
              annotations={(annotations.get(index) ?? []).map(withShortCaption)}
              quality={qualityOf(value, index)}
              state={refusal ?? (value ? 'enrolled' : 'unused')}
            >
              {refusal?.code === 'SUBJECT_FACE_MISMATCH' && chosenIds.has(picture.id) && (
                <Button
                  size="compact-xs"
                  variant="default"
                  style={{ alignSelf: 'flex-start' }}
                  loading={isSending}
                  onClick={() => onForce(picture.id)}
                >
                  It is the same person: enroll
                </Button>
              )}
            </PictureResult>
          )
        })}
        {value?.duplicates.map((duplicate) => (
          <ScoreBar
            key={duplicate.subjectId}
            label={`Similar subject: ${subjectNameOf(duplicate)}`}
            value={duplicate.similarity}
            text={duplicate.similarity.toFixed(4)}
          />
        ))}
        <Group gap="xs">
          {value && (
            <Button size="xs" variant="default" onClick={() => onOpen(value.subjectId)}>
              Open the subject
            </Button>
          )}
          <LinkButton to="/log" search={{ requestId }} size="xs" variant="default">
            Open in request log
          </LinkButton>
        </Group>
      </Stack>
    </output>
  )
}

function verdictOf(value: EnrollOutcome['value'], refused: number, total: number) {
  if (!value) return { tone: 'bad', text: 'Nothing was enrolled' } as const
  if (refused > 0)
    return { tone: 'unsure', text: `${total - refused} of ${total} pictures enrolled` } as const
  const text = value.created ? 'New subject enrolled' : 'Faces added to the subject'
  return { tone: 'good', text } as const
}

function qualityOf(value: EnrollOutcome['value'], index: number): number | undefined {
  if (!value) return undefined
  const face = value.images ? value.images.find((image) => image.index === index)?.face : value.face
  return face?.quality.score
}

/** The captions of the playground are wider than a small picture. */
function withShortCaption(annotation: FaceAnnotation): FaceAnnotation {
  return { ...annotation, caption: 'face' }
}

type PictureResultProps = {
  readonly picture: RunPicture
  readonly annotations: readonly FaceAnnotation[]
  readonly quality: number | undefined
  readonly state: ResultProblem | 'enrolled' | 'unused'
  readonly children: React.ReactNode
}

function PictureResult({ picture, annotations, quality, state, children }: PictureResultProps) {
  return (
    <Group wrap="nowrap" align="flex-start" gap="sm">
      <Box w={112} style={{ flex: 'none' }}>
        <AnnotatedImage image={picture} annotations={annotations} />
      </Box>
      <Stack gap={4}>
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {picture.name}: {stateText(state)}
          {quality !== undefined && `, quality ${quality} of 100`}
        </Text>
        {typeof state === 'object' && <Text size="sm">{refusalText(state)}</Text>}
        {children}
      </Stack>
    </Group>
  )
}

function stateText(state: PictureResultProps['state']): string {
  if (state === 'enrolled') return 'enrolled'
  return state === 'unused' ? 'not used' : 'refused'
}
