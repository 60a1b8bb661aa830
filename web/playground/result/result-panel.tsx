import { SimpleGrid, Stack } from '@mantine/core'
import { useState } from 'react'
import type { PlaygroundSettings } from '../../api/responses.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { DefinitionList } from '../../components/definition-list.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { StatusTag } from '../../components/status-tag.tsx'
import { CallCost } from '../../money/call-cost.tsx'
import { formatDuration } from '../../format/numbers.ts'
import { Panel } from '../../layout/panel.tsx'
import { AnnotatedImage } from '../images/annotated-image.tsx'
import { faceAnnotationsOf } from '../images/face-annotations.ts'
import type { PlaygroundRun } from '../run.ts'
import type { ResultEnvelope } from './envelope.ts'
import { FailureCard } from './failure-card.tsx'
import { falseMatchRateAt, formatRate } from './judge.ts'
import { ResultCard } from './result-card.tsx'
import { ThresholdSlider } from './threshold-slider.tsx'

type Props = { readonly run: PlaygroundRun; readonly settings: PlaygroundSettings }

/** Shows the result of a run: decision, annotated images, latency, cost and the whole response. */
export function ResultPanel({ run, settings }: Props) {
  const { call, response, pictures } = run
  // The server validates its responses with the schemas of the actions.
  const envelope = response.envelope as ResultEnvelope & { readonly requestId: string }
  const original = thresholdOf(call.action, envelope)
  const [threshold, setThreshold] = useState(original)
  const remedyOf = useRemedies()
  const { ok, errors = [], data } = envelope
  const annotations = faceAnnotationsOf(envelope, threshold)
  return (
    <Panel title={`Result of ${call.action}`}>
      <Stack>
        <output>
          <Stack>
            {!ok && <FailureCard title="The call failed" problems={errors} remedyOf={remedyOf} />}
            {(data?.results ?? []).map((item) => (
              <ResultCard
                key={item.index}
                action={call.action}
                item={item}
                threshold={threshold}
                remedyOf={remedyOf}
              />
            ))}
            <DefinitionList
              items={{
                Status: (
                  <StatusTag tone={ok ? 'ok' : 'bad'}>{ok ? statusOf(data) : 'failed'}</StatusTag>
                ),
                Latency: formatDuration(response.latencyMs),
                Cost: <CallCost call={response} />,
              }}
            />
          </Stack>
        </output>
        {original !== undefined && threshold !== undefined && (
          <ThresholdSlider
            threshold={threshold}
            original={original}
            note={rateNote(call.action, threshold, settings)}
            onChange={setThreshold}
          />
        )}
        <SimpleGrid cols={{ base: 1, sm: pictures.length > 1 ? 2 : 1 }}>
          {pictures.map((image, index) => (
            <AnnotatedImage
              key={image.id}
              image={image}
              annotations={annotations.get(index) ?? []}
            />
          ))}
        </SimpleGrid>
        <LinkButton
          to="/log"
          search={{ requestId: envelope.requestId }}
          size="xs"
          variant="default"
          style={{ alignSelf: 'flex-start' }}
        >
          Open in request log
        </LinkButton>
        <CodeBlock label="Response" text={JSON.stringify(envelope, undefined, 2)} />
      </Stack>
    </Panel>
  )
}

function statusOf(data: ResultEnvelope['data']): string {
  return data?.validation ? `valid; price ${data.validation.priceMicros} micro-units` : 'ok'
}

/** The actions with a threshold in their response. */
const thresholdActions: ReadonlySet<string> = new Set([
  'svc.verify',
  'svc.identify',
  'svc.liveness',
])

function thresholdOf(action: string, { data }: ResultEnvelope): number | undefined {
  if (!thresholdActions.has(action)) return undefined
  return data?.results.find(({ value }) => value.threshold !== undefined)?.value.threshold
}

function rateNote(
  action: string,
  threshold: number,
  { falseMatchRates }: PlaygroundSettings,
): string | undefined {
  if (action === 'svc.liveness')
    return 'A higher threshold accepts fewer attacks and rejects more live people.'
  const rate = falseMatchRateAt(falseMatchRates, threshold)
  return rate && `False-match rate at this threshold: ${formatRate(rate)}.`
}

/** Returns a function that returns the general remedy of an error code. */
function useRemedies(): (code: string) => string | undefined {
  const errors = useApiQuery('/errors')
  return (code) => errors.data?.find((error) => error.code === code)?.remedy
}
