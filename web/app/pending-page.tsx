import { Text } from '@mantine/core'
import { useLocation } from '@tanstack/react-router'
import { useConnection } from '../api/connection.ts'
import { sections } from '../layout/navigation.tsx'
import { Page } from '../layout/page.tsx'

/** The page of the present address while its script loads, which can wait for the connection. */
export function PendingPage() {
  const { pathname } = useLocation()
  const link = sections.flatMap(({ links }) => [...links]).find(({ to }) => to === pathname)
  const isConnected = useConnection() === 'connected'
  return (
    <Page title={link?.text ?? 'Loading'}>
      <Text component="output" size="sm" aria-busy="true">
        {isConnected ? 'The page loads…' : 'This page loads when the connection is back.'}
      </Text>
    </Page>
  )
}
