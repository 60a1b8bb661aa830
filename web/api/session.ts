import { useQuery, type QueryClient, type UseQueryResult } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { ConsoleRole, ConsoleSession } from './responses.ts'
import { useApi } from './use-api.ts'

const sessionKey = ['session'] as const

/** Returns the session, with the user if one is signed in. It is fetched again after a 401. */
export function useSession(): UseQueryResult<ConsoleSession> {
  const api = useApi()
  return useQuery({
    queryKey: sessionKey,
    // The server validates its responses with the schemas that these types come from.
    queryFn: async ({ signal }) => (await api.get('/session', signal)) as ConsoleSession,
  })
}

export function csrfTokenOf(client: QueryClient): string | undefined {
  return client.getQueryData<ConsoleSession>(sessionKey)?.csrfToken
}

/** Stores a new session and removes all cached data of the previous one. */
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

/** Returns the session on a page that requires a signed-in user. */
export function useSignedInSession(): SignedInSession {
  const session = useContext(SessionContext)
  if (!session)
    throw new Error(
      'useSignedInSession was called outside SessionContext. Render the component inside AuthGate.',
    )
  return session
}

const rolesAscending: readonly string[] = [
  'viewer',
  'admin',
  'owner',
] satisfies readonly ConsoleRole[]

/** Returns whether the user has at least `role`. It only hides controls: the server authorizes. */
export function useHasRole(role: ConsoleRole): boolean {
  return rolesAscending.indexOf(useSignedInSession().user.role) >= rolesAscending.indexOf(role)
}
