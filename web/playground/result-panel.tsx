import { SimpleGrid, Stack } from '@mantine/core'
import type { PlaygroundResponse } from '../api/responses.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { CallCost } from '../money/call-cost.tsx'
import { formatDuration } from '../format/numbers.ts'
import { Panel } from '../layout/panel.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { AnnotatedImage } from './images/annotated-image.tsx'
import { faceAnnotationsOf, type ResultEnvelope } from './images/face-annotations.ts'
import type { PlaygroundImage } from './images/playground-image.ts'

type Props = {
  readonly response: PlaygroundResponse
  /** The images of this call. */
  readonly images: readonly PlaygroundImage[]
}

/** Shows the result of a call: status, latency, cost, annotated images and response. */
export function ResultPanel({ response, images }: Props) {
  // The server validates its responses with the schemas of the actions.
  const envelope = response.envelope as ResultEnvelope
  const { ok, errors = [] } = envelope
  const annotations = faceAnnotationsOf(envelope)
  return (
    <Panel title="Response">
      <Stack>
        <output>
          <DefinitionList
            items={{
              Result: <StatusTag tone={ok ? 'ok' : 'bad'}>{ok ? 'ok' : 'failed'}</StatusTag>,
              ...Object.fromEntries(errors.map(({ code, message }) => [code, message])),
              Latency: formatDuration(response.latencyMs),
              Cost: <CallCost call={response} />,
            }}
          />
        </output>
        <SimpleGrid cols={{ base: 1, sm: images.length > 1 ? 2 : 1 }}>
          {images.map((image, index) => (
            <AnnotatedImage
              key={image.id}
              image={image}
              annotations={annotations.get(index) ?? []}
            />
          ))}
        </SimpleGrid>
        <CodeBlock label="Response" text={JSON.stringify(envelope, undefined, 2)} />
      </Stack>
    </Panel>
  )
}
