import { Group, Stack, Text } from '@mantine/core'
import type { ActionInfo } from '../api/responses.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { MoneyAmount } from '../components/money-amount.tsx'
import { Panel } from '../layout/panel.tsx'
import { formFieldsOf, type FormField } from '../playground/form-fields.ts'
import { curlOf, typeScriptOf } from '../playground/snippets.ts'

/** One action: what it takes, what it answers, its own errors, how to call it. */
export function ActionPage({ action }: { readonly action: ActionInfo }) {
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
            An ok call costs <MoneyAmount micros={BigInt(unitMicros) * BigInt(unitsPerCall)} />
            {action.imagesMax > 0 && `, with ${imageCountText(action)}`}.
          </Text>
        </Group>
      </Panel>
      <Panel title="Parameters">
        <DataTable
          caption={`Parameters of ${action.name}`}
          rows={formFieldsOf(action.paramsSchema)}
          rowKey={({ name }) => name}
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

function imageCountText({ imagesMin, imagesMax }: ActionInfo): string {
  return imagesMin === imagesMax ? `${imagesMax} picture(s)` : `${imagesMin}–${imagesMax} pictures`
}

function Snippets({ action }: { readonly action: ActionInfo }) {
  const { origin } = window.location
  const count = Math.max(action.imagesMin, Math.min(action.imagesMax, 1))
  const call = {
    action: action.name,
    params: action.example.params,
    debug: false,
    images: Array.from({ length: count }, (_, i) => ({
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

const columns: readonly Column<FormField>[] = [
  {
    name: 'Name',
    isMonospace: true,
    renderCell: ({ name, isRequired }) => (isRequired ? `${name} *` : name),
  },
  { name: 'Takes', renderCell: ({ kind }) => kindText(kind) },
  {
    name: 'Default',
    isMonospace: true,
    renderCell: ({ defaultValue: fallback }) =>
      fallback === undefined ? '–' : JSON.stringify(fallback),
  },
  { name: 'Meaning', renderCell: ({ description }) => description },
]

function kindText(kind: FormField['kind']): string {
  switch (kind.type) {
    case 'number':
      return `${kind.isInteger ? 'whole number' : 'number'} ${kind.min ?? '…'} to ${kind.max ?? '…'}`
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
      return kind.variants ?? 'text'
  }
}
