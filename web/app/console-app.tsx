import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { createApi } from '../api/api.ts'
import { refetchSession, csrfTokenOf } from '../api/session.ts'
import { ApiContext } from '../api/use-api.ts'
import { cssVariables, theme } from '../theme/theme.ts'
import { createConsoleRouter } from './router.tsx'
import { styleNonce } from './style-nonce.ts'

/** The root component: theme, API client, response cache and router. */
export function ConsoleApp() {
  const [client] = useState(createQueryClient)
  const [api] = useState(() => createApi(() => csrfTokenOf(client)))
  const [router] = useState(createConsoleRouter)
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={client}>
        <ApiContext value={api}>
          <Notifications position="bottom-right" autoClose={5000} />
          <RouterProvider router={router} />
        </ApiContext>
      </QueryClientProvider>
    </MantineProvider>
  )
}

function createQueryClient(): QueryClient {
  // 401: the session has ended; AuthGate then shows the sign-in dialog. 403: another tab may have signed in.
  const onError = (error: unknown): void => {
    if (error instanceof ApiError && [401, 403].includes(error.status)) refetchSession(client)
  }
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 5000,
        retry: (failures, error) => isTransient(error) && failures < retriesMax,
        retryDelay: (failures, error) => waitMsOf(error) ?? 1000 * 2 ** failures,
      },
      // A write is refused while the browser is offline, instead of being sent later.
      mutations: { networkMode: 'always' },
    },
  })
  return client
}

const retriesMax = 2
/** The longest announced time after which a read is repeated. */
const retryWaitMsMax = 60_000

/** Whether a read is repeated: without a response, or when the server announced when it accepts it. */
function isTransient(error: Error): boolean {
  if (!(error instanceof ApiError)) return true
  const waitMs = waitMsOf(error)
  return waitMs !== undefined && waitMs <= retryWaitMsMax && [429, 503].includes(error.status)
}

function waitMsOf(error: Error): number | undefined {
  return error instanceof ApiError && error.retryAfterS !== undefined
    ? error.retryAfterS * 1000
    : undefined
}
