import { Accordion, Text } from '@mantine/core'
import type { SystemReport } from '../../api/responses.ts'
import { StatusTag } from '../../components/status-tag.tsx'
import { Panel } from '../../layout/panel.tsx'
import { DataTable, type Column } from '../../lists/data-table.tsx'

type Topic = SystemReport['settings'][number]
type ShownSetting = Topic['settings'][number]

/** The settings of this server by topic, with their meaning. */
export function SettingsPanel({ topics }: { readonly topics: readonly Topic[] }) {
  return (
    <Panel title="Settings of this server">
      <Accordion multiple variant="separated" chevronPosition="left">
        {topics.map(({ topic, settings }) => (
          <Accordion.Item key={topic} value={topic}>
            <Accordion.Control>
              <Text size="sm" fw={600}>
                {topic}
              </Text>
              <Text size="xs">{changedText(settings)}</Text>
            </Accordion.Control>
            <Accordion.Panel>
              <DataTable
                caption={`Settings: ${topic}`}
                rows={settings}
                rowKey={({ name }) => name}
                columns={columns}
                empty={null}
              />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Panel>
  )
}

function changedText(settings: readonly ShownSetting[]): string {
  const changed = settings.filter(({ isDefault }) => !isDefault).length
  return `${settings.length} settings, ${changed === 0 ? 'all' : settings.length - changed} with their default`
}

const columns: readonly Column<ShownSetting>[] = [
  { name: 'Name', isMonospace: true, renderCell: ({ name }) => name },
  { name: 'Value', isMonospace: true, renderCell: ({ value }) => (value === '' ? '–' : value) },
  {
    name: 'Source',
    renderCell: ({ isDefault }) =>
      isDefault ? 'Default' : <StatusTag tone="ok">environment</StatusTag>,
  },
  {
    name: 'Meaning',
    renderCell: ({ meaning, range }) => (range === '' ? meaning : `${meaning} (${range})`),
  },
]
