import { Anchor, Button, SimpleGrid } from '@mantine/core'
import type { SystemReport } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import { DefinitionList } from '../components/definition-list.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { formatBytes, formatCount, formatQuantity } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { Panel } from '../layout/panel.tsx'
import { HistoryPanels } from './status/history-panels.tsx'
import { ProblemTable } from './status/problem-table.tsx'
import { ServerPanel } from './status/server-panel.tsx'
import { SettingsPanel } from './status/settings-panel.tsx'
import { SupportBundleButton } from './status/support-bundle-button.tsx'

/** The health, the history and the settings of the installation. */
export function SystemPage() {
  const query = useApiQuery('/system')
  const mayDownload = useHasRole('admin')
  return (
    <Page
      title="System"
      description="Health of servers and workers, history of 24 hours, versions and settings."
      actions={
        <>
          {mayDownload && <SupportBundleButton />}
          <Button size="sm" variant="default" onClick={() => void query.refetch()}>
            Refresh
          </Button>
        </>
      }
    >
      <QueryContent query={query}>{(report) => <SystemContent report={report} />}</QueryContent>
    </Page>
  )
}

function SystemContent({ report }: { readonly report: SystemReport }) {
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Panel title="Service">
          <ServiceDetails report={report} />
        </Panel>
        <Panel title="Disk and database">
          <StorageDetails report={report} />
        </Panel>
      </SimpleGrid>
      <HistoryPanels />
      {report.servers.map((server) => (
        <ServerPanel key={server.server} server={server} />
      ))}
      <ProblemTable servers={report.servers} />
      <SettingsPanel topics={report.settings} />
    </>
  )
}

function ServiceDetails({ report }: { readonly report: SystemReport }) {
  const { queued, recycled, respawns, quarantined } = report.workers
  return (
    <DefinitionList
      items={{
        Status: (
          <StatusTag tone={report.ready ? 'ok' : 'bad'}>
            {report.ready ? 'ready' : report.reasons.join('; ')}
          </StatusTag>
        ),
        Version: report.version,
        'Waiting images': formatCount(queued ?? 0),
        'Workers lost and replaced': formatCount(respawns ?? 0),
        'Workers replaced for age or memory': formatCount(recycled ?? 0),
        'Calls rejected for a crashing image': formatCount(quarantined ?? 0),
        Metrics: (
          <Anchor href={report.metricsUrl} size="sm">
            {report.metricsUrl}
          </Anchor>
        ),
      }}
    />
  )
}

function StorageDetails({ report: { disk, gallery, store } }: { readonly report: SystemReport }) {
  return (
    <DefinitionList
      items={{
        Database: [store.version, store.place].filter(Boolean).join(', '),
        'Size of the database': formatBytes(store.bytes),
        'Search index': `${formatQuantity(gallery.templates, 'template')}, ${formatBytes(gallery.bytes)}`,
        'Disk free': `${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)}`,
        Models: formatBytes(disk.modelsBytes),
      }}
    />
  )
}
