import { useSignedInSession } from '../api/session.ts'
import { Page } from '../layout/page.tsx'
import { PasswordPanel } from './password-panel.tsx'
import { SecondFactorPanel } from './second-factor/second-factor-panel.tsx'
import { SessionsPanel } from './sessions-panel.tsx'

/** The password, the second factor and the sessions of the signed-in user. */
export function AccountPage() {
  const { user } = useSignedInSession()
  return (
    <Page title="Account" description={`${user.name} · ${user.role}`}>
      <PasswordPanel />
      <SecondFactorPanel />
      <SessionsPanel />
    </Page>
  )
}
