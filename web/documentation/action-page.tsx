import { Group, Stack, Text } from '@mantine/core'
import type { ActionInfo } from '../api/responses.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { callMicros } from '../format/call-micros.ts'
import { MoneyAmount } from '../money/money-amount.tsx'
import { Panel } from '../layout/panel.tsx'
import { formFieldsOf, type FormField } from '../playground/form/form-fields.ts'
import { curlOf, typeScriptOf } from '../playground/snippets.ts'

/** One action: parameters, example call, example response and errors. */
export function ActionPage({ action }: { readonly action: ActionInfo }) {
  return (
    <>
      <Panel
        title={action.name}
        actions={
          <LinkButton to="/playground" search={{ action: action.name }} size="xs">
            Open in playground
          </LinkButton>
        }
      >
        <Text size="sm">{action.summary}</Text>
        <Group gap="xs" mt="xs">
          <Text size="sm" c="dimmed">
            <MoneyAmount micros={callMicros(action.price)} /> per successful call
            {action.imagesMax > 0 && ` · ${imageCountText(action)}`}
          </Text>
        </Group>
      </Panel>
      <Panel title="Parameters">
        <DataTable
          caption={`Parameters of ${action.name}`}
          rows={formFieldsOf(action.paramsSchema)}
          rowKey={({ name }) => name}
          columns={columns}
          empty={<Text size="sm">No parameters except the images.</Text>}
        />
      </Panel>
      <Panel title="Example call">
        <Snippets action={action} />
      </Panel>
      <Panel title="Example response">
        <CodeBlock label="value" text={JSON.stringify(action.example.value, undefined, 2)} />
      </Panel>
      <Panel title="Errors">
        <Text size="sm" className="fg-mono">
          {action.errors.join(', ') || 'None'}
        </Text>
      </Panel>
    </>
  )
}

function imageCountText({ imagesMin, imagesMax }: ActionInfo): string {
  if (imagesMin !== imagesMax) return `${imagesMin}–${imagesMax} images`
  return imagesMax === 1 ? '1 image' : `${imagesMax} images`
}

function Snippets({ action }: { readonly action: ActionInfo }) {
  const { origin } = window.location
  const count = Math.max(action.imagesMin, Math.min(action.imagesMax, 1))
  const call = {
    action: action.name,
    params: action.example.params,
    debug: false,
    images: Array.from({ length: count }, (_, index) => ({
      name: count > 1 ? `photo-${index + 1}.jpg` : 'photo.jpg',
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
  { name: 'Type', renderCell: ({ kind }) => kindText(kind) },
  {
    name: 'Default',
    isMonospace: true,
    renderCell: ({ defaultValue }) =>
      defaultValue === undefined ? '–' : JSON.stringify(defaultValue),
  },
  { name: 'Description', renderCell: ({ description }) => description },
]

function kindText(kind: FormField['kind']): string {
  switch (kind.type) {
    case 'number':
      return `${kind.isInteger ? 'integer' : 'number'} ${kind.min ?? '…'} to ${kind.max ?? '…'}`
    case 'switch':
      return 'boolean'
    case 'choice':
      return kind.options.join(' | ')
    case 'choices':
      return `any of ${kind.options.join(', ')}`
    case 'texts':
      return 'list of strings'
    case 'json':
      return 'JSON object'
    case 'text':
    default:
      return kind.variants ?? 'string'
  }
}
