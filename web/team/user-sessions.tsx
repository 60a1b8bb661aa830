import { notifications } from '@mantine/notifications'
import type { TeamMember } from '../api/responses.ts'
import { useApiMutation, useApiQuery } from '../api/use-api.ts'
import { SessionTable } from '../auth/session-table.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { QueryContent } from '../components/query-content.tsx'

/** The open sessions of another user. An owner ends them one by one. */
export function UserSessions({ user }: { readonly user: TeamMember }) {
  const pathParams = { userId: user.userId }
  const query = useApiQuery('/users/:userId/sessions', { pathParams })
  const end = useApiMutation({
    method: 'DELETE',
    path: '/users/:userId/sessions/:sessionId',
    onSuccess: () => notifications.show({ message: 'Session ended.' }),
  })
  return (
    <>
      <QueryContent query={query}>
        {({ items }) => (
          <SessionTable
            caption={`Open sessions of ${user.name}, last used first`}
            sessions={items}
            onEnd={({ sessionId }) => end.mutate({ pathParams: { ...pathParams, sessionId } })}
          />
        )}
      </QueryContent>
      <ErrorNotice title="Couldn't end session" error={end.error} />
    </>
  )
}
