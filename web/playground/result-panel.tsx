import { SimpleGrid, Stack } from '@mantine/core'
import type { PlaygroundResponse } from '../api/responses.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { MoneyAmount } from '../components/money-amount.tsx'
import { formatDuration } from '../format/numbers.ts'
import { Panel } from '../layout/panel.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { AnnotatedImage } from './annotated-image.tsx'
import { faceAnnotationsOf } from './face-annotations.ts'
import type { PlaygroundImage } from './playground-image.ts'

type Props = {
  readonly response: PlaygroundResponse
  /** As they were sent with this call. */
  readonly images: readonly PlaygroundImage[]
}

type ResultEnvelope = {
  readonly ok: boolean
  readonly errors?: readonly { readonly code: string; readonly message: string }[]
}

/** What came of the call: the pictures with their marks, the cost, the answer. */
export function ResultPanel({ response: answer, images: pictures }: Props) {
  const marks = faceAnnotationsOf(answer.envelope)
  // The envelope is the service's own answer, checked against the schemas of the actions.
  const { ok, errors = [] } = answer.envelope as ResultEnvelope
  return (
    <Panel title="Answer">
      <Stack>
        <output>
          <DefinitionList
            facts={{
              Result: <StatusTag tone={ok ? 'ok' : 'bad'}>{ok ? 'ok' : 'not ok'}</StatusTag>,
              ...Object.fromEntries(errors.map(({ code, message }) => [code, message])),
              Took: formatDuration(answer.latencyMs),
              Cost: <MoneyAmount micros={answer.costMicros} />,
            }}
          />
        </output>
        <SimpleGrid cols={{ base: 1, sm: pictures.length > 1 ? 2 : 1 }}>
          {pictures.map((picture, i) => (
            <AnnotatedImage key={picture.id} image={picture} annotations={marks.get(i) ?? []} />
          ))}
        </SimpleGrid>
        <CodeBlock label="Answer" text={JSON.stringify(answer.envelope, undefined, 2)} />
      </Stack>
    </Panel>
  )
}
