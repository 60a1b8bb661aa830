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

/** A first call and the rules for all calls. */
export function GettingStarted() {
  const { origin } = window.location
  return (
    <>
      <Panel title="First call">
        <Text size="sm" mb="sm">
          Send every call to POST /v1/face/execute with an API key in X-Api-Key. The field action
          selects the operation.
        </Text>
        <Stack>
          <CodeBlock label="curl" text={curlOf(call, origin)} />
          <CodeBlock label="TypeScript" text={typeScriptOf(call, origin)} />
        </Stack>
      </Panel>
      <Panel title="Rules for all calls">
        <List size="sm" spacing="xs">
          <List.Item>
            Check the field ok. A failed action returns HTTP 200 with ok: false and errors. Other
            statuses return a detail.
          </List.Item>
          <List.Item>
            Send a unique requestId and repeat it in retries. The call then runs and is charged
            once, and retries return the same response for 24 hours.
          </List.Item>
          <List.Item>Failed calls are not charged.</List.Item>
          <List.Item>
            After RATE_LIMITED or HTTP 503, wait for the time in Retry-After plus a random delay.
          </List.Item>
          <List.Item>
            Coordinates are pixels of the upright image. The origin is the top left corner.
          </List.Item>
        </List>
      </Panel>
    </>
  )
}
