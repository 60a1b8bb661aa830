import { Center, Loader } from '@mantine/core'
import { Outlet, useLocation } from '@tanstack/react-router'
import { SessionContext, useSession } from '../api/session.ts'
import { SetUpPage } from './set-up-page.tsx'
import { SignInPage } from './sign-in-page.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { AppLayout } from '../layout/app-layout.tsx'
import { RunHistoryProvider } from '../playground/history/run-history.tsx'

/**
 * Shows the requested page to signed-in users, and the setup or sign-in page otherwise. The URL does
 * not change, so the requested page opens after sign-in.
 */
export function AuthGate() {
  const session = useSession()
  const { pathname, hash } = useLocation()
  if (session.isPending)
    return (
      <Center mih="100vh">
        <Loader aria-label="Loading" />
      </Center>
    )
  if (!session.data)
    return (
      <Center mih="100vh" p="md">
        <ErrorNotice
          title="Couldn't load session"
          error={session.error}
          onRetry={() => void session.refetch()}
        />
      </Center>
    )
  const { user } = session.data
  if (pathname === '/setup' && hash !== '') return <SetUpPage token={hash} />
  if (session.data.state === 'setup') return <SetUpPage token="" />
  if (!user) return <SignInPage />
  return (
    <SessionContext value={{ ...session.data, user }}>
      {/* Another user must not see the runs of this one. */}
      <RunHistoryProvider key={user.userId}>
        <AppLayout>
          <Outlet />
        </AppLayout>
      </RunHistoryProvider>
    </SessionContext>
  )
}
