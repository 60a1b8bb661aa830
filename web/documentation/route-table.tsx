import { Anchor, Text } from '@mantine/core'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Panel } from '../parts/panel.tsx'
import type { OpenApi, Operation } from './open-api.ts'

type Row = { readonly method: string; readonly path: string; readonly operation: Operation }

/** Every route of the API, out of its OpenAPI description. */
export function RouteTable({ description }: { readonly description: OpenApi }) {
  const rows = Object.entries(description.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
  return (
    <Panel title={`Routes of ${description.info.title} ${description.info.version}`}>
      <Text size="sm" c="dimmed" mb="sm">
        The whole description, for tools:{' '}
        <Anchor size="sm" underline="always" href="/v1/openapi.json">
          /v1/openapi.json
        </Anchor>{' '}
        (OpenAPI 3.1).
      </Text>
      <DataTable
        caption="Routes"
        rows={rows}
        keyOf={({ method, path }) => `${method} ${path}`}
        columns={columns}
        empty={null}
      />
    </Panel>
  )
}

const columns: readonly Column<Row>[] = [
  { name: 'Method', mono: true, cell: ({ method }) => method },
  { name: 'Path', mono: true, cell: ({ path }) => path },
  {
    name: 'What for',
    cell: ({ operation: { summary, description } }) =>
      [summary, description].filter(Boolean).join('. '),
  },
  {
    name: 'Parameters',
    mono: true,
    cell: ({ operation }) => operation.parameters?.map(({ name }) => name).join(', ') ?? '–',
  },
  {
    name: 'Key',
    cell: ({ operation: { security } }) => (security?.length === 0 ? 'none' : 'X-Api-Key'),
  },
]
