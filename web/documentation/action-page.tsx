import { Group, Stack, Text } from '@mantine/core'
import type { ActionFacts } from '../api/answers.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { LinkButton } from '../parts/link-button.tsx'
import { Money } from '../parts/money.tsx'
import { Panel } from '../parts/panel.tsx'
import { fieldsOf, type Field } from '../playground/fields.ts'
import { curlOf, typeScriptOf } from '../playground/snippets.ts'

/** One action: what it takes, what it answers, its own errors, how to call it. */
export function ActionPage({ action }: { readonly action: ActionFacts }) {
  const { unitsPerCall, unitMicros } = action.price
  return (
    <>
      <Panel
        title={action.name}
        actions={
          <LinkButton to="/playground" search={{ action: action.name }} size="xs">
            Try it
          </LinkButton>
        }
      >
        <Text size="sm">{action.summary}</Text>
        <Group gap="xs" mt="xs">
          <Text size="sm" c="dimmed">
            An ok call costs <Money micros={BigInt(unitMicros) * BigInt(unitsPerCall)} />
            {action.imagesMax > 0 && `, with ${pictures(action)}`}.
          </Text>
        </Group>
      </Panel>
      <Panel title="Parameters">
        <DataTable
          caption={`Parameters of ${action.name}`}
          rows={fieldsOf(action.paramsSchema)}
          keyOf={({ name }) => name}
          columns={columns}
          empty={<Text size="sm">None but its pictures.</Text>}
        />
      </Panel>
      <Panel title="Calls">
        <Snippets action={action} />
      </Panel>
      <Panel title="Answer">
        <CodeBlock label="value" text={JSON.stringify(action.example.value, undefined, 2)} />
      </Panel>
      <Panel title="Errors of its own">
        <Text size="sm" className="fg-mono">
          {action.errors.join(', ') || 'none'}
        </Text>
      </Panel>
    </>
  )
}

function pictures({ imagesMin, imagesMax }: ActionFacts): string {
  return imagesMin === imagesMax ? `${imagesMax} picture(s)` : `${imagesMin}–${imagesMax} pictures`
}

function Snippets({ action }: { readonly action: ActionFacts }) {
  const { origin } = window.location
  const count = Math.max(action.imagesMin, Math.min(action.imagesMax, 1))
  const call = {
    action: action.name,
    params: action.example.params,
    debug: false,
    pictures: Array.from({ length: count }, (_, i) => ({
      name: count > 1 ? `photo-${i + 1}.jpg` : 'photo.jpg',
      contentType: 'image/jpeg',
    })),
  }
  return (
    <Stack>
      <CodeBlock label="curl" text={curlOf(call, origin)} />
      <CodeBlock label="TypeScript" text={typeScriptOf(call, origin)} />
    </Stack>
  )
}

const columns: readonly Column<Field>[] = [
  { name: 'Name', mono: true, cell: ({ name, isRequired }) => (isRequired ? `${name} *` : name) },
  { name: 'Takes', cell: ({ kind }) => kindText(kind) },
  {
    name: 'Default',
    mono: true,
    cell: ({ fallback }) => (fallback === undefined ? '–' : JSON.stringify(fallback)),
  },
  { name: 'Meaning', cell: ({ description }) => description },
]

function kindText(kind: Field['kind']): string {
  switch (kind.is) {
    case 'number':
      return `${kind.isWhole ? 'whole number' : 'number'} ${kind.min ?? '…'} to ${kind.max ?? '…'}`
    case 'switch':
      return 'true or false'
    case 'choice':
      return kind.options.join(' | ')
    case 'choices':
      return `any of ${kind.options.join(', ')}`
    case 'texts':
      return 'texts'
    case 'json':
      return 'JSON object'
    case 'text':
    default:
      return kind.forms ?? 'text'
  }
}
