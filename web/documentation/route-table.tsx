import { Anchor, Text } from '@mantine/core'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { Panel } from '../layout/panel.tsx'
import type { OpenApiDocument, OpenApiOperation } from './open-api.ts'

type RouteRow = {
  readonly method: string
  readonly path: string
  readonly operation: OpenApiOperation
}

/** Every route of the OpenAPI document. */
export function RouteTable({ openApi }: { readonly openApi: OpenApiDocument }) {
  const rows = Object.entries(openApi.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
  return (
    <Panel title={`${openApi.info.title} ${openApi.info.version}`}>
      <Text size="sm" c="dimmed" mb="sm">
        OpenAPI 3.1 document:{' '}
        <Anchor size="sm" underline="always" href="/v1/openapi.json">
          /v1/openapi.json
        </Anchor>
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
    name: 'Description',
    renderCell: ({ operation: { summary, description } }) =>
      [summary, description].filter(Boolean).join('. '),
  },
  {
    name: 'Parameters',
    isMonospace: true,
    renderCell: ({ operation }) => operation.parameters?.map(({ name }) => name).join(', ') ?? '–',
  },
  {
    name: 'API key',
    renderCell: ({ operation: { security } }) =>
      security?.length === 0 ? 'Not required' : 'X-Api-Key',
  },
]
