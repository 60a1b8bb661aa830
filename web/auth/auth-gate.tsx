import { Center, Loader } from '@mantine/core'
import { Outlet, useChildMatches, useLocation } from '@tanstack/react-router'
import { lazy, Suspense, useLayoutEffect } from 'react'
import { SessionContext, useSession } from '../api/session.ts'
import { whenReachable } from '../api/when-reachable.ts'
import { SetUpPage } from './set-up-page.tsx'
import { SignInPage } from './sign-in-page.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'
import { AppLayout } from '../layout/app-layout.tsx'
import { ConnectionBanner } from '../layout/connection-banner.tsx'
import { useKeepFocus } from '../layout/use-keep-focus.ts'
import { RunHistoryProvider } from '../playground/history/run-history.tsx'

const SessionEndedDialog = lazy(async () => ({
  default: (await whenReachable(() => import('./session-ended-dialog.tsx'))).SessionEndedDialog,
}))

/**
 * Shows the requested page to signed-in users, and the setup or sign-in page otherwise. The URL does
 * not change, so the requested page opens after sign-in. After the end of a session the page keeps its
 * input, hidden below a sign-in dialog.
 */
export function AuthGate() {
  useKeepFocus()
  return (
    <>
      <ConnectionBanner />
      <GatedPage />
    </>
  )
}

function GatedPage() {
  const session = useSession()
  const { pathname, hash } = useLocation()
  const isEnded = session.data?.user === undefined && session.data?.ended !== undefined
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute('data-session-ended', isEnded)
  }, [isEnded])
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
  const { user, ended } = session.data
  if (pathname === '/setup' && hash !== '') return <SetUpPage token={hash} />
  if (session.data.state === 'setup') return <SetUpPage token="" />
  const shown = user ? { ...session.data, user } : ended
  if (!shown) return <SignInPage />
  return (
    <SessionContext value={shown}>
      {/* Another user must not see the page and the runs of this one. */}
      <RunHistoryProvider key={shown.user.userId}>
        <AppLayout>
          <CurrentPage />
        </AppLayout>
      </RunHistoryProvider>
      {!user && (
        <Suspense>
          <SessionEndedDialog ended={shown} session={session.data} />
        </Suspense>
      )}
    </SessionContext>
  )
}

/**
 * Shows the page of the present address. The key removes the page before at once: without it, React
 * keeps that page hidden in the document while the script of the next one loads.
 */
function CurrentPage() {
  const routeId = useChildMatches({ select: ([match]) => match?.routeId })
  return <Outlet key={routeId} />
}
