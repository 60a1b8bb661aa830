import {
  useQuery,
  useQueryClient,
  type QueryClient,
  type UseQueryResult,
} from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { ConsoleRole, ConsoleSession } from './responses.ts'
import { useApi } from './use-api.ts'

const sessionKey = ['session'] as const

/** The session, and after its end the one before it, whose page stays open. */
export type SessionState = ConsoleSession & { readonly ended?: SignedInSession | undefined }

/** Returns the session, with the user if one is signed in. It is fetched again after a 401. */
export function useSession(): UseQueryResult<SessionState> {
  const api = useApi()
  const client = useQueryClient()
  return useQuery({
    queryKey: sessionKey,
    queryFn: async ({ signal }) => continueSession(client, await api.get('/session', { signal })),
  })
}

/** Keeps the page of a user whose session has ended, and never shows it to another user. */
function continueSession(client: QueryClient, next: ConsoleSession): SessionState {
  const before = client.getQueryData<SessionState>(sessionKey)
  const known = before?.user ? { ...before, user: before.user } : before?.ended
  if (!next.user) return next.state === 'signedOut' ? { ...next, ended: known } : next
  if (known && known.user.userId !== next.user.userId) removePageData(client)
  else if (before?.ended) refetchPageData(client)
  return next
}

/** Continues with a new session of the same user: the page stays open and its data is fetched again. */
export function resumeSession(client: QueryClient, session: ConsoleSession): void {
  client.setQueryData(sessionKey, session)
  refetchPageData(client)
}

function removePageData(client: QueryClient): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] })
}

function refetchPageData(client: QueryClient): void {
  void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] })
}

export function csrfTokenOf(client: QueryClient): string | undefined {
  return client.getQueryData<ConsoleSession>(sessionKey)?.csrfToken
}

/** Stores a new session and removes all cached data of the previous one. */
export function storeSession(client: QueryClient, session: ConsoleSession): void {
  client.setQueryData(sessionKey, session)
  removePageData(client)
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
