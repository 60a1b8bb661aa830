import { Tabs } from '@mantine/core'
import { CodeBlock } from '../parts/code-block.tsx'
import { Panel } from '../parts/panel.tsx'
import type { Picture } from './picture.ts'
import { curlOf, typeScriptOf } from './snippets.ts'

type Parts = {
  readonly action: string
  readonly params: Readonly<Record<string, unknown>>
  readonly debug: boolean
  readonly pictures: readonly Picture[]
}

/** The request as JSON, for a shell, and for TypeScript. */
export function RequestView({ action, params, debug, pictures }: Parts) {
  const call = { action, params, debug, pictures }
  const { origin } = window.location
  return (
    <Panel title="Request">
      <Tabs defaultValue="json" keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="json">JSON</Tabs.Tab>
          <Tabs.Tab value="curl">curl</Tabs.Tab>
          <Tabs.Tab value="typescript">TypeScript</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="json">
          <CodeBlock label="Request" text={jsonOf({ action, params, debug, pictures })} />
        </Tabs.Panel>
        <Tabs.Panel value="curl">
          <CodeBlock label="curl" text={curlOf(call, origin)} />
        </Tabs.Panel>
        <Tabs.Panel value="typescript">
          <CodeBlock label="TypeScript" text={typeScriptOf(call, origin)} />
        </Tabs.Panel>
      </Tabs>
    </Panel>
  )
}

/** The bytes of a picture fill pages and tell nobody anything: their number stands for them. */
function jsonOf({ action, params, debug, pictures }: Parts): string {
  const images = pictures.map(({ contentType, base64 }) => ({
    kind: 'image',
    contentType,
    bytes: `… ${base64.length} characters of base64 …`,
  }))
  const body = { action, params: { images, ...params }, ...(debug ? { debug } : {}) }
  return JSON.stringify(body, undefined, 2)
}
