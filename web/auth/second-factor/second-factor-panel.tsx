import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useApiQuery } from '../../api/use-api.ts'
import { QueryContent } from '../../components/query-content.tsx'
import { StatusTag } from '../../components/status-tag.tsx'
import { Panel } from '../../layout/panel.tsx'
import { EnableForm } from './enable-form.tsx'
import { PasswordForm } from './password-form.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'

type Dialog = 'enable' | 'renew' | 'remove'

const titles: Readonly<Record<Dialog, string>> = {
  enable: 'Enable second factor',
  renew: 'New recovery codes',
  remove: 'Remove second factor',
}

/** Enables and removes the authenticator app of the signed-in user. */
export function SecondFactorPanel() {
  const query = useApiQuery('/second-factor')
  const [dialog, setDialog] = useState<Dialog>()
  return (
    <Panel title="Second factor">
      <QueryContent query={query}>
        {({ isEnabled, recoveryCodesLeft }) => (
          <Stack align="flex-start">
            <Group>
              <StatusTag tone={isEnabled ? 'ok' : 'warn'}>{isEnabled ? 'on' : 'off'}</StatusTag>
              <Text size="sm">
                {isEnabled
                  ? `Sign-in requires a code of your app. ${recoveryCodesLeft} recovery codes are left.`
                  : 'With an authenticator app, a stolen password is not enough to sign in.'}
              </Text>
            </Group>
            {isEnabled ? (
              <Group>
                <Button variant="default" onClick={() => setDialog('renew')}>
                  New recovery codes
                </Button>
                <Button variant="default" onClick={() => setDialog('remove')}>
                  Remove second factor
                </Button>
              </Group>
            ) : (
              <Button onClick={() => setDialog('enable')}>Enable second factor</Button>
            )}
          </Stack>
        )}
      </QueryContent>
      {dialog && <SecondFactorDialog dialog={dialog} onClose={() => setDialog(undefined)} />}
    </Panel>
  )
}

type DialogProps = { readonly dialog: Dialog; readonly onClose: () => void }

function SecondFactorDialog({ dialog, onClose }: DialogProps) {
  const [codes, setCodes] = useState<readonly string[]>()
  return (
    <Modal
      opened
      // The codes cannot be shown again, so only the Done button closes the dialog.
      onClose={codes ? () => {} : onClose}
      withCloseButton={!codes}
      title={codes ? 'Recovery codes' : titles[dialog]}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {codes && <RecoveryCodes codes={codes} onDone={onClose} />}
      {!codes && dialog === 'enable' && <EnableForm onEnabled={setCodes} />}
      {!codes && dialog === 'renew' && (
        <PasswordForm
          path="/second-factor/recovery-codes"
          note="The earlier recovery codes become invalid."
          submitLabel="Create new codes"
          errorTitle="Couldn't create recovery codes"
          onSuccess={({ recoveryCodes }) => setCodes(recoveryCodes)}
        />
      )}
      {!codes && dialog === 'remove' && (
        <PasswordForm
          path="/second-factor/remove"
          note="Sign-in then requires your password only."
          submitLabel="Remove"
          errorTitle="Couldn't remove second factor"
          onSuccess={onClose}
        />
      )}
    </Modal>
  )
}
