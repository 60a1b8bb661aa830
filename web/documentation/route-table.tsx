import { Anchor, Text } from '@mantine/core'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { Panel } from '../layout/panel.tsx'
import type { OpenApiDocument, OpenApiOperation } from './open-api.ts'

type RouteRow = {
  readonly method: string
  readonly path: string
  readonly operation: OpenApiOperation
}

/** Every route of the API, out of its OpenAPI description. */
export function RouteTable({ description }: { readonly description: OpenApiDocument }) {
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
        rowKey={({ method, path }) => `${method} ${path}`}
        columns={columns}
        empty={null}
      />
    </Panel>
  )
}

const columns: readonly Column<RouteRow>[] = [
  { name: 'Method', isMonospace: true, renderCell: ({ method }) => method },
  { name: 'Path', isMonospace: true, renderCell: ({ path }) => path },
  {
    name: 'What for',
    renderCell: ({ operation: { summary, description } }) =>
      [summary, description].filter(Boolean).join('. '),
  },
  {
    name: 'Parameters',
    isMonospace: true,
    renderCell: ({ operation }) => operation.parameters?.map(({ name }) => name).join(', ') ?? '–',
  },
  {
    name: 'Key',
    renderCell: ({ operation: { security } }) => (security?.length === 0 ? 'none' : 'X-Api-Key'),
  },
]
