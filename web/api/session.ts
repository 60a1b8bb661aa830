import { useQuery, type QueryClient, type UseQueryResult } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { ConsoleRole, ConsoleSession } from './responses.ts'
import { useApi } from './use-api.ts'

const sessionKey = ['session'] as const

/** Who is signed in, if anybody. Asked again after a 401. */
export function useSession(): UseQueryResult<ConsoleSession> {
  const api = useApi()
  return useQuery({
    queryKey: sessionKey,
    // The server checks its answers against the schemas that these types come from.
    queryFn: async ({ signal }) => (await api.get('/session', signal)) as ConsoleSession,
  })
}

export function csrfTokenOf(client: QueryClient): string | undefined {
  return client.getQueryData<ConsoleSession>(sessionKey)?.csrfToken
}

/** Takes a session as the server just told it; everything else known belongs to the one before. */
export function storeSession(client: QueryClient, session: ConsoleSession): void {
  client.setQueryData(sessionKey, session)
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] })
}

export function refetchSession(client: QueryClient): void {
  void client.invalidateQueries({ queryKey: sessionKey })
}

export type SignedInSession = ConsoleSession & {
  readonly user: NonNullable<ConsoleSession['user']>
}

export const SessionContext = createContext<SignedInSession | undefined>(undefined)

/** The session of a page that only a signed-in user sees. */
export function useSignedInSession(): SignedInSession {
  const session = useContext(SessionContext)
  if (!session) throw new Error('useSignedIn needs a SessionContext above it')
  return session
}

const rolesAscending: readonly string[] = [
  'viewer',
  'admin',
  'owner',
] satisfies readonly ConsoleRole[]

/** Whether the user may do what needs `role`. The server decides; this only hides what it refuses. */
export function useHasRole(role: ConsoleRole): boolean {
  return rolesAscending.indexOf(useSignedInSession().user.role) >= rolesAscending.indexOf(role)
}
