import { Button, Modal, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { ConsoleSession } from '../api/responses.ts'
import { resumeSession, storeSession, type SignedInSession } from '../api/session.ts'
import { SignInForm } from './sign-in-form.tsx'

type Props = {
  readonly ended: SignedInSession
  /** The present session, without a user. */
  readonly session: ConsoleSession
}

/** Signs the user in again above the open page, which is hidden and keeps the typed input. */
export function SessionEndedDialog({ ended, session }: Props) {
  const client = useQueryClient()
  const onSignedIn = (next: ConsoleSession): void => {
    if (next.user?.userId === ended.user.userId) return resumeSession(client, next)
    // Another user: nothing of the page remains.
    storeSession(client, next)
    window.location.assign('/')
  }
  const leave = (): void =>
    storeSession(client, { ...session, state: 'signedOut', user: undefined })
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={300}
      portalProps={{ reuseTargetNode: false, className: 'fg-session-ended' }}
      title="Your session has ended"
    >
      <SignInForm name={ended.user.name} onSignedIn={onSignedIn}>
        {(onSubmit, fields) => (
          <form onSubmit={onSubmit}>
            <Stack>
              <Text size="sm">
                Sign in again to continue on this page. Your input is kept. What you sent after the
                end of the session was not saved: send it again.
              </Text>
              {fields}
              <Button variant="default" onClick={leave}>
                Leave this page
              </Button>
            </Stack>
          </form>
        )}
      </SignInForm>
    </Modal>
  )
}
