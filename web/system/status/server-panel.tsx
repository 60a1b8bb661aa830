import { Stack, Text } from '@mantine/core'
import type { SystemServer, VisionWorker } from '../../api/responses.ts'
import { DefinitionList } from '../../components/definition-list.tsx'
import { StatusTag } from '../../components/status-tag.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { formatBytes, formatCount, formatTimeSpan } from '../../format/numbers.ts'
import { Panel } from '../../layout/panel.tsx'
import { DataTable, type Column } from '../../lists/data-table.tsx'

/** The health of one server and of its vision workers. */
export function ServerPanel({ server }: { readonly server: SystemServer }) {
  const { report } = server
  const isRunning = server.state === 'ready' || server.state === 'not ready'
  return (
    <Panel title={`Server ${server.server}`}>
      <Stack>
        <DefinitionList items={{ ...serverFacts(server), ...(report && reportFacts(report)) }} />
        {report && isRunning && report.workers.length > 0 && (
          <DataTable
            caption={`Vision workers of ${server.server}`}
            rows={report.workers.map((worker, index) => ({ ...worker, number: index + 1 }))}
            rowKey={({ number }) => String(number)}
            columns={workerColumns}
            empty={null}
          />
        )}
        {!report && (
          <Text size="sm">The server has another version; its report cannot be shown.</Text>
        )}
      </Stack>
    </Panel>
  )
}

function serverFacts(server: SystemServer) {
  const reasons = server.report?.reasons.join('; ') ?? ''
  return {
    Status: (
      <StatusTag tone={server.state === 'ready' ? 'ok' : 'bad'}>
        {server.state === 'not ready' && reasons !== '' ? reasons : server.state}
      </StatusTag>
    ),
    Process: `${server.pid}${server.isThis ? ' (this server)' : ''}`,
    Version: server.version,
    Started: <UtcTime timestampUtc={server.startedAtUtc} />,
    'Last report': <UtcTime timestampUtc={server.reportedAtUtc} />,
    Starts: formatCount(server.starts),
  }
}

function reportFacts({ uptimeS, memory, database, runtime }: NonNullable<SystemServer['report']>) {
  const { connections, responseMs } = database
  const response =
    responseMs === null ? 'does not respond' : `responds in ${responseMs.toFixed(1)} ms`
  const pool = connections
    ? `, ${connections.busy} connections in use, ${connections.idle} idle, ${connections.waiting} jobs waiting`
    : ''
  return {
    Uptime: formatTimeSpan(uptimeS),
    'Process memory': formatBytes(memory.rssBytes),
    'JavaScript heap': formatBytes(memory.heapBytes),
    Database: `${response}${pool}`,
    Runtime: Object.entries(runtime)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  }
}

const workerColumns: readonly Column<VisionWorker & { readonly number: number }>[] = [
  { name: 'Worker', renderCell: ({ number }) => number },
  {
    name: 'State',
    renderCell: ({ state }) => (
      <StatusTag tone={state === 'lost' ? 'bad' : 'ok'}>{state}</StatusTag>
    ),
  },
  { name: 'Process', isMonospace: true, renderCell: ({ pid }) => pid ?? '–' },
  {
    name: 'Memory',
    renderCell: ({ rssBytes }) => (rssBytes === null ? 'no image yet' : formatBytes(rssBytes)),
  },
  { name: 'Images', renderCell: ({ jobs }) => formatCount(jobs) },
  { name: 'Restarts', renderCell: ({ restarts }) => formatCount(restarts) },
  { name: 'Last reason', renderCell: ({ lastReason }) => lastReason ?? '–' },
  {
    name: 'Ready since',
    renderCell: ({ startedAtMs }) =>
      startedAtMs === null ? '–' : <UtcTime timestampUtc={new Date(startedAtMs).toISOString()} />,
  },
]
