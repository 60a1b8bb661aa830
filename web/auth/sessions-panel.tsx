import { Button, Group, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import type { UserSession } from '../api/responses.ts'
import { useApiMutation, useApiQuery } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { Panel } from '../layout/panel.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'

/** The open sessions of the signed-in user. */
export function SessionsPanel() {
  const query = useApiQuery('/sessions')
  const end = useApiMutation({
    method: 'DELETE',
    path: '/sessions/:sessionId',
    onSuccess: () => notifications.show({ message: 'Session ended.' }),
  })
  const endOthers = useApiMutation({
    method: 'POST',
    path: '/sessions/sign-out-elsewhere',
    onSuccess: () => notifications.show({ message: 'All other sessions have ended.' }),
  })
  const endSession = ({ sessionId }: UserSession): void => end.mutate({ pathParams: { sessionId } })
  return (
    <Panel title="Sessions">
      <Stack>
        <QueryContent query={query}>
          {({ items }) => (
            <DataTable
              caption="Your open sessions, last used first"
              rows={items}
              rowKey={({ sessionId }) => sessionId}
              columns={[...columns, endColumn(endSession)]}
              empty={null}
            />
          )}
        </QueryContent>
        <ErrorNotice title="Couldn't end session" error={end.error ?? endOthers.error} />
        <Group>
          <Button
            variant="default"
            loading={endOthers.isPending}
            onClick={() => endOthers.mutate({})}
          >
            Sign out everywhere else
          </Button>
        </Group>
      </Stack>
    </Panel>
  )
}

const columns: readonly Column<UserSession>[] = [
  { name: 'Browser', renderCell: ({ userAgent }) => browserName(userAgent) },
  { name: 'IP address', isMonospace: true, renderCell: ({ ip }) => ip || '–' },
  { name: 'Signed in', renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} /> },
  {
    name: 'Last used',
    renderCell: ({ lastSeenAtUtc }) => <UtcTime timestampUtc={lastSeenAtUtc} />,
  },
]

function endColumn(onEnd: (session: UserSession) => void): Column<UserSession> {
  return {
    name: 'Actions',
    renderCell: (session) =>
      session.isCurrent ? (
        <StatusTag tone="ok">this session</StatusTag>
      ) : (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`End the session of ${browserName(session.userAgent)}`}
          onClick={() => onEnd(session)}
        >
          End
        </Button>
      ),
  }
}

/** Browsers by a part of their User-Agent, the most specific first. */
const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const systems = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'] as const

/** Returns the browser and the system of a User-Agent header, or its first words. */
function browserName(userAgent: string): string {
  const browser = browsers.find(([part]) => userAgent.includes(part))?.[1]
  const system = systems.find((name) => userAgent.includes(name))
  const known = [browser, system].filter((name) => name !== undefined)
  return known.length > 0 ? known.join(', ') : userAgent.slice(0, 40) || 'Unknown'
}
