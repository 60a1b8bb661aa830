import { useQuery, type QueryClient, type UseQueryResult } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { Role, Session } from './answers.ts'
import { useApi } from './use-api.ts'

const sessionKey = ['session'] as const

/** Who is signed in, if anybody. Asked again after a 401. */
export function useSession(): UseQueryResult<Session> {
  const api = useApi()
  return useQuery({
    queryKey: sessionKey,
    // The server checks its answers against the schemas that these types come from.
    queryFn: async ({ signal }) => (await api.get('/session', signal)) as Session,
  })
}

export function csrfTokenOf(client: QueryClient): string | undefined {
  return client.getQueryData<Session>(sessionKey)?.csrfToken
}

/** Takes a session as the server just told it; everything else known belongs to the one before. */
export function keepSession(client: QueryClient, session: Session): void {
  client.setQueryData(sessionKey, session)
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] })
}

export function askSessionAgain(client: QueryClient): void {
  void client.invalidateQueries({ queryKey: sessionKey })
}

export type SignedIn = Session & { readonly user: NonNullable<Session['user']> }

export const SessionContext = createContext<SignedIn | undefined>(undefined)

/** The session of a page that only a signed-in user sees. */
export function useSignedIn(): SignedIn {
  const session = useContext(SessionContext)
  if (!session) throw new Error('useSignedIn needs a SessionContext above it')
  return session
}

const ranks: readonly string[] = ['viewer', 'admin', 'owner'] satisfies readonly Role[]

/** Whether the user may do what needs `role`. The server decides; this only hides what it refuses. */
export function useMay(role: Role): boolean {
  return ranks.indexOf(useSignedIn().user.role) >= ranks.indexOf(role)
}
