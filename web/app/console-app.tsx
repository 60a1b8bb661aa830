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
  // A 401 means that the session has ended. AuthGate then shows the sign-in page.
  const onError = (error: unknown): void => {
    if (error instanceof ApiError && error.status === 401) refetchSession(client)
  }
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 5000,
        // Only network errors are retried. A repeated request would get the same error response.
        retry: (failures, error) => !(error instanceof ApiError) && failures < 2,
      },
    },
  })
  return client
}
