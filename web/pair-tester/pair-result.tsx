import { Group, SimpleGrid, Stack, Text } from '@mantine/core'
import type { PlaygroundSettings } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { DefinitionList } from '../components/definition-list.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { formatDuration } from '../format/numbers.ts'
import { Panel } from '../layout/panel.tsx'
import { CallCost } from '../money/call-cost.tsx'
import { AnnotatedImage } from '../playground/images/annotated-image.tsx'
import { faceAnnotationsOf } from '../playground/images/face-annotations.ts'
import type { ActionValues } from '../playground/result/action-values.ts'
import type { ResultEnvelope } from '../playground/result/envelope.ts'
import { FailureCard } from '../playground/result/failure-card.tsx'
import { QualityBars } from '../playground/result/faces-card.tsx'
import { falseMatchRateAt, formatRate } from '../playground/result/judge.ts'
import { VerifyCard } from '../playground/result/match-card.tsx'
import type { PlaygroundRun, RunPicture } from '../playground/run.ts'
import { AlignedFace } from './aligned-face.tsx'
import { PairWarnings } from './pair-warnings.tsx'
import { ThresholdTable } from './threshold-table.tsx'

type VerifyValue = ActionValues['svc.verify']

type Props = {
  readonly run: PlaygroundRun
  readonly settings: PlaygroundSettings
  readonly projectId: string
}

/** The result of a comparison, or why it failed. */
export function PairResult({ run, settings, projectId }: Props) {
  const errors = useApiQuery('/errors')
  // The server validates its responses with the schemas of the actions.
  const envelope = run.response.envelope as ResultEnvelope & { readonly requestId: string }
  const [item] = envelope.data?.results ?? []
  const remedyOf = (code: string) => errors.data?.find((error) => error.code === code)?.remedy
  return (
    <Panel title="Result">
      <Stack>
        <output>
          {envelope.ok && item ? (
            <PairValue
              value={item.value as unknown as VerifyValue}
              envelope={envelope}
              pictures={run.pictures}
              settings={settings}
              projectId={projectId}
            />
          ) : (
            <FailureCard
              title="The pictures could not be compared"
              problems={envelope.errors ?? []}
              remedyOf={remedyOf}
            />
          )}
        </output>
        <DefinitionList
          items={{
            Latency: formatDuration(run.response.latencyMs),
            Cost: <CallCost call={run.response} />,
          }}
        />
        <LinkButton
          to="/log"
          search={{ requestId: envelope.requestId }}
          size="xs"
          variant="default"
          style={{ alignSelf: 'flex-start' }}
        >
          Open in request log
        </LinkButton>
      </Stack>
    </Panel>
  )
}

type PairValueProps = Pick<Props, 'settings' | 'projectId'> & {
  readonly value: VerifyValue
  readonly envelope: ResultEnvelope
  readonly pictures: readonly RunPicture[]
}

function PairValue({ value, envelope, pictures, settings, projectId }: PairValueProps) {
  const { similarity, threshold } = value
  const rate = falseMatchRateAt(settings.falseMatchRates, similarity)
  const annotations = faceAnnotationsOf(envelope)
  const faces = [value.probe, value.reference]
  return (
    <Stack>
      <VerifyCard value={value} threshold={threshold} />
      {rate && (
        <Text size="sm">
          False-match rate at this similarity: {formatRate(rate)}.{' '}
          {value.calibration === 'gallery'
            ? 'The rates were measured on the gallery of this project.'
            : 'The rates are those of the model: the gallery of this project has no calibration.'}
        </Text>
      )}
      <PairWarnings faces={faces} />
      <ThresholdTable value={value} settings={settings} projectId={projectId} />
      <Group gap="md">
        {pictures.map((picture, index) => {
          const face = faces[index]
          return (
            face && <AlignedFace key={picture.id} picture={picture} face={face} index={index} />
          )
        })}
        <Text size="xs" c="dimmed" maw={220}>
          The compared faces, aligned by the eyes. The recognizer uses similar crops.
        </Text>
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 2 }} maw={960}>
        {pictures.map((picture, index) => {
          const face = faces[index]
          return (
            <Stack key={picture.id} gap="xs">
              <AnnotatedImage image={picture} annotations={annotations.get(index) ?? []} />
              {face && <QualityBars quality={face.quality} />}
            </Stack>
          )
        })}
      </SimpleGrid>
    </Stack>
  )
}
