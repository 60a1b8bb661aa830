import { Button, Group, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import type { UserSession } from '../api/responses.ts'
import { useApiMutation, useApiQuery } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { Panel } from '../layout/panel.tsx'
import { SessionTable } from './session-table.tsx'

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
            <SessionTable
              caption="Your open sessions, last used first"
              sessions={items}
              onEnd={endSession}
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
