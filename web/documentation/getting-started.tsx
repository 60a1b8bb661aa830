import { List, Stack, Text } from '@mantine/core'
import { CodeBlock } from '../components/code-block.tsx'
import { Panel } from '../layout/panel.tsx'
import { curlOf, typeScriptOf } from '../playground/snippets.ts'

const call = {
  action: 'svc.detect',
  params: {},
  debug: false,
  images: [{ name: 'photo.jpg', contentType: 'image/jpeg' }],
} as const

/** The first call, and the few rules that hold for all of them. */
export function GettingStarted() {
  const { origin } = window.location
  return (
    <>
      <Panel title="The first call">
        <Text size="sm" mb="sm">
          One endpoint, POST /v1/face/execute, with a key in X-Api-Key. The action of the body says
          what to do.
        </Text>
        <Stack>
          <CodeBlock label="curl" text={curlOf(call, origin)} />
          <CodeBlock label="TypeScript" text={typeScriptOf(call, origin)} />
        </Stack>
      </Panel>
      <Panel title="Rules of every call">
        <List size="sm" spacing="xs">
          <List.Item>
            Branch on ok: failures of an action are HTTP 200 with ok false and errors. Other
            statuses carry a detail instead.
          </List.Item>
          <List.Item>
            Send a requestId of your own and retry with the same: the call runs and is charged once,
            the answer is the same for 24 hours.
          </List.Item>
          <List.Item>A call that fails is never charged.</List.Item>
          <List.Item>
            RATE_LIMITED and HTTP 503 say in Retry-After how long to wait; add jitter.
          </List.Item>
          <List.Item>Coordinates are pixels of the upright picture, origin top-left.</List.Item>
        </List>
      </Panel>
    </>
  )
}
