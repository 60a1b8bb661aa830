import { Tabs } from '@mantine/core'
import { CodeBlock } from '../components/code-block.tsx'
import { Panel } from '../layout/panel.tsx'
import type { PlaygroundImage } from './images/playground-image.ts'
import { curlOf, pythonOf, typeScriptOf } from './snippets.ts'

type Props = {
  readonly action: string
  readonly params: Readonly<Record<string, unknown>>
  readonly debug: boolean
  readonly images: readonly PlaygroundImage[]
}

/** Shows the request as JSON, as a curl command, as TypeScript and as Python. */
export function RequestView({ action, params, debug, images }: Props) {
  const call = { action, params, debug, images }
  const { origin } = window.location
  return (
    <Panel title="Request">
      <Tabs defaultValue="json" keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="json">JSON</Tabs.Tab>
          <Tabs.Tab value="curl">curl</Tabs.Tab>
          <Tabs.Tab value="typescript">TypeScript</Tabs.Tab>
          <Tabs.Tab value="python">Python</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="json">
          <CodeBlock label="Request" text={jsonOf({ action, params, debug, images })} />
        </Tabs.Panel>
        <Tabs.Panel value="curl">
          <CodeBlock label="curl" text={curlOf(call, origin)} />
        </Tabs.Panel>
        <Tabs.Panel value="typescript">
          <CodeBlock label="TypeScript" text={typeScriptOf(call, origin)} />
        </Tabs.Panel>
        <Tabs.Panel value="python">
          <CodeBlock label="Python" text={pythonOf(call, origin)} />
        </Tabs.Panel>
      </Tabs>
    </Panel>
  )
}

/** Returns the request as JSON. The image bytes are replaced by their length. */
function jsonOf({ action, params, debug, images }: Props): string {
  const imageItems = images.map(({ contentType, base64 }) => ({
    kind: 'image',
    contentType,
    bytes: `… ${base64.length} characters of base64 …`,
  }))
  const body = { action, params: { images: imageItems, ...params }, ...(debug ? { debug } : {}) }
  return JSON.stringify(body, undefined, 2)
}
