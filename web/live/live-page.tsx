import { Anchor, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { CallLogEntry } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { useIsAbsent } from '../api/use-is-absent.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { StatCard } from '../components/stat-card.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { formatCount, formatDuration, formatQuantity } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { CallTile } from './call-tile.tsx'
import { groupByKey, type KeyActivity } from './group-by-key.ts'
import './live.css'

const route = getRouteApi('/live')

const pollMs = 2000
const systemPollMs = 5000
/** The calls of one refresh: a page of the request log. */
const callsMax = 200

/** The latest calls of the last hour as tiles, by key, refreshed every two seconds. */
export function LivePage() {
  const { projectId } = route.useSearch()
  const isAbsent = useIsAbsent()
  const query = useApiQuery('/log', {
    query: { projectId, period: '1h', limit: callsMax },
    pollMs: () => (isAbsent ? false : pollMs),
  })
  // Compares whole weeks, so that it need not be refreshed.
  const cameras = useApiQuery('/analytics/cameras', { query: { projectId } })
  const changesOf = (id: string) => cameras.data?.keys.find(({ keyId }) => keyId === id)?.changes
  return (
    <Page
      title="Live"
      description={`The latest ${callsMax} calls of the last hour, by key. A tile opens its call.`}
      actions={
        <StatusTag tone={isAbsent ? 'warn' : 'ok'}>
          {isAbsent ? 'paused: no input for 5 minutes' : 'refreshed every 2 s'}
        </StatusTag>
      }
    >
      <Load isPolled={!isAbsent} />
      <QueryContent query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No calls in the last hour">
              Calls appear here within two seconds.
            </EmptyState>
          ) : (
            <Stack>
              {groupByKey(items).map((activity) => (
                <KeyPanel
                  key={activity.keyId}
                  activity={activity}
                  changes={changesOf(activity.keyId) ?? []}
                />
              ))}
            </Stack>
          )
        }
      </QueryContent>
    </Page>
  )
}

/** The images that wait for a worker, on all servers. */
function Load({ isPolled }: { readonly isPolled: boolean }) {
  const query = useApiQuery('/system', { pollMs: () => isPolled && systemPollMs })
  if (!query.data) return null
  const reports = query.data.servers.flatMap(({ report }) => report ?? [])
  const waiting = reports.reduce((sum, { queue }) => sum + queue.images, 0)
  const busy = reports.flatMap(({ workers }) => workers).filter(({ state }) => state === 'busy')
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
      <StatCard label="Waiting images" value={formatCount(waiting)} />
      <StatCard label="Busy workers" value={formatCount(busy.length)} />
    </SimpleGrid>
  )
}

type KeyPanelProps = {
  readonly activity: KeyActivity
  /** What became worse in the last week. */
  readonly changes: readonly { readonly text: string }[]
}

function KeyPanel({ activity, changes }: KeyPanelProps) {
  const { keyId, keyName, projectName, calls, failed, medianMs } = activity
  return (
    <section className="fg-panel" aria-label={`Calls of ${keyName}`}>
      <Group justify="space-between" mb="xs">
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {keyName}{' '}
          <Text span size="sm" c="dimmed">
            {projectName}
          </Text>
        </Text>
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {formatQuantity(calls.length, 'call')}, {formatCount(failed)} failed, median{' '}
          {formatDuration(medianMs)} ·{' '}
          <Anchor
            size="xs"
            underline="always"
            renderRoot={(props) => (
              <Link {...props} to="/log" search={{ keyId, period: '1h' }}>
                log of {keyName}
              </Link>
            )}
          />
        </Text>
      </Group>
      {changes.length > 0 && (
        <Text size="xs" c="var(--fg-warn)" mb="xs">
          {changes.map(({ text }) => text).join('; ')}.{' '}
          <Anchor
            size="xs"
            underline="always"
            renderRoot={(props) => (
              <Link {...props} to="/analytics" search={{ keyId }}>
                weeks of {keyName}
              </Link>
            )}
          />
        </Text>
      )}
      <ul className="fg-tiles">
        {calls.map((call: CallLogEntry) => (
          <li key={call.callId}>
            <CallTile call={call} />
          </li>
        ))}
      </ul>
    </section>
  )
}
