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

/** The status of the service and its machine. */
export function SystemPage() {
  const query = useApiQuery('/system')
  return (
    <Page
      title="System"
      description="Health, workers, memory, disk and active settings."
      actions={
        <Button size="sm" variant="default" onClick={() => void query.refetch()}>
          Refresh
        </Button>
      }
    >
      <QueryContent query={query}>{(report) => <SystemContent report={report} />}</QueryContent>
    </Page>
  )
}

function SystemContent({ report }: { readonly report: SystemReport }) {
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }}>
        <Panel title="Service">
          <ServiceDetails report={report} />
        </Panel>
        <Panel title="Vision workers">
          <DefinitionList items={report.workers} />
        </Panel>
        <Panel title="Memory and disk">
          <MachineDetails report={report} />
        </Panel>
      </SimpleGrid>
      {report.store.servers.length > 0 && <ServerTable servers={report.store.servers} />}
      <Panel title="Settings">
        <DataTable
          caption="Settings"
          rows={report.settings}
          rowKey={({ name }) => name}
          columns={[
            { name: 'Name', isMonospace: true, renderCell: ({ name }) => name },
            { name: 'Value', isMonospace: true, renderCell: ({ value }) => value },
            {
              name: 'Source',
              renderCell: ({ isDefault }) => (isDefault ? 'Default' : 'Environment'),
            },
          ]}
          empty={null}
        />
      </Panel>
    </>
  )
}

/** The servers that share the database. Any of them can process a call. */
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
            name: 'Started',
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

function ServiceDetails({ report }: { readonly report: SystemReport }) {
  return (
    <DefinitionList
      items={{
        Status: (
          <StatusTag tone={report.ready ? 'ok' : 'bad'}>
            {report.ready ? 'ready' : report.reasons.join('; ')}
          </StatusTag>
        ),
        Version: report.version,
        Node: report.node,
        Uptime: formatTimeSpan(report.uptimeS),
        Database: `${report.store.version}, ${report.store.place}`,
        Metrics: (
          <Anchor href={report.metricsUrl} size="sm">
            {report.metricsUrl}
          </Anchor>
        ),
      }}
    />
  )
}

function MachineDetails({
  report: { memory, disk, gallery, store },
}: {
  readonly report: SystemReport
}) {
  return (
    <DefinitionList
      items={{
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
