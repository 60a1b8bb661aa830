import { SimpleGrid, Stack } from '@mantine/core'
import type { PlaygroundAnswer } from '../api/answers.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { Facts } from '../parts/facts.tsx'
import { Money } from '../parts/money.tsx'
import { durationOf } from '../parts/numbers.ts'
import { Panel } from '../parts/panel.tsx'
import { Tag } from '../parts/tag.tsx'
import { MarkedPicture } from './marked-picture.tsx'
import { marksOf } from './marks.ts'
import type { Picture } from './picture.ts'

type Parts = {
  readonly answer: PlaygroundAnswer
  /** As they were sent with this call. */
  readonly pictures: readonly Picture[]
}

type Envelope = {
  readonly ok: boolean
  readonly errors?: readonly { readonly code: string; readonly message: string }[]
}

/** What came of the call: the pictures with their marks, the cost, the answer. */
export function Result({ answer, pictures }: Parts) {
  const marks = marksOf(answer.envelope)
  // The envelope is the service's own answer, checked against the schemas of the actions.
  const { ok, errors = [] } = answer.envelope as Envelope
  return (
    <Panel title="Answer">
      <Stack>
        <output>
          <Facts
            facts={{
              Result: <Tag tone={ok ? 'ok' : 'bad'}>{ok ? 'ok' : 'not ok'}</Tag>,
              ...Object.fromEntries(errors.map(({ code, message }) => [code, message])),
              Took: durationOf(answer.latencyMs),
              Cost: <Money micros={answer.costMicros} />,
            }}
          />
        </output>
        <SimpleGrid cols={{ base: 1, sm: pictures.length > 1 ? 2 : 1 }}>
          {pictures.map((picture, i) => (
            <MarkedPicture key={picture.id} picture={picture} marks={marks.get(i) ?? []} />
          ))}
        </SimpleGrid>
        <CodeBlock label="Answer" text={JSON.stringify(answer.envelope, undefined, 2)} />
      </Stack>
    </Panel>
  )
}
