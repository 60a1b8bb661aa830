import { Anchor, Button, SimpleGrid } from '@mantine/core'
import type { SystemReport } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { formatBytes, formatCount, formatTimeSpan } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { Panel } from '../layout/panel.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'

/** How the machine does that all of this runs on. */
export function SystemPage() {
  const asked = useApiQuery('/system')
  return (
    <Page
      title="System"
      description="Health, workers, memory, disk and the settings in force."
      actions={
        <Button size="sm" variant="default" onClick={() => void asked.refetch()}>
          Refresh
        </Button>
      }
    >
      <QueryContent query={asked}>{(facts) => <SystemContent facts={facts} />}</QueryContent>
    </Page>
  )
}

function SystemContent({ facts }: { readonly facts: SystemReport }) {
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }}>
        <Panel title="Service">
          <ServiceDetails facts={facts} />
        </Panel>
        <Panel title="Vision workers">
          <DefinitionList facts={facts.workers} />
        </Panel>
        <Panel title="Memory and disk">
          <MachineDetails facts={facts} />
        </Panel>
      </SimpleGrid>
      {facts.store.servers.length > 0 && <ServerTable servers={facts.store.servers} />}
      <Panel title="Settings">
        <DataTable
          caption="Settings"
          rows={facts.settings}
          rowKey={({ name }) => name}
          columns={[
            { name: 'Name', isMonospace: true, renderCell: ({ name }) => name },
            { name: 'Value', isMonospace: true, renderCell: ({ value }) => value },
            {
              name: 'Set by',
              renderCell: ({ isDefault }) => (isDefault ? 'default' : 'environment'),
            },
          ]}
          empty={null}
        />
      </Panel>
    </>
  )
}

/** All that are at work on one database; a call may be answered by any of them. */
function ServerTable({ servers }: { readonly servers: SystemReport['store']['servers'] }) {
  return (
    <Panel title="Servers on this database">
      <DataTable
        caption="Servers on this database"
        rows={servers}
        rowKey={({ host, pid }) => `${host} ${pid}`}
        columns={[
          { name: 'Host', isMonospace: true, renderCell: ({ host }) => host },
          { name: 'Process', isMonospace: true, renderCell: ({ pid }) => pid },
          { name: 'Version', renderCell: ({ version }) => version },
          {
            name: 'Since',
            renderCell: ({ startedAtUtc }) => <UtcTime timestampUtc={startedAtUtc} />,
          },
          {
            name: 'Last seen',
            renderCell: ({ seenAtUtc }) => <UtcTime timestampUtc={seenAtUtc} />,
          },
        ]}
        empty={null}
      />
    </Panel>
  )
}

function ServiceDetails({ facts }: { readonly facts: SystemReport }) {
  return (
    <DefinitionList
      facts={{
        State: (
          <StatusTag tone={facts.ready ? 'ok' : 'bad'}>
            {facts.ready ? 'ready' : facts.reasons.join('; ')}
          </StatusTag>
        ),
        Version: facts.version,
        Node: facts.node,
        'Running for': formatTimeSpan(facts.uptimeS),
        Database: `${facts.store.version}, ${facts.store.place}`,
        Metrics: (
          <Anchor href={facts.metricsUrl} size="sm">
            {facts.metricsUrl}
          </Anchor>
        ),
      }}
    />
  )
}

function MachineDetails({
  facts: { memory, disk, gallery, store },
}: {
  readonly facts: SystemReport
}) {
  return (
    <DefinitionList
      facts={{
        'Process memory': formatBytes(memory.rssBytes),
        'JavaScript heap': formatBytes(memory.heapBytes),
        'Search index': `${formatCount(gallery.templates)} templates, ${formatBytes(gallery.bytes)}`,
        'Disk free': `${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)}`,
        Database: formatBytes(store.bytes),
        Models: formatBytes(disk.modelsBytes),
      }}
    />
  )
}
