import type { ConsoleKey } from '../api/responses.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'

type Props = { readonly apiKey: ConsoleKey; readonly onClose: () => void }

/** Revokes a key permanently. Requires the typed key name. */
export function RevokeKeyDialog({ apiKey, onClose }: Props) {
  const revoke = useApiMutation({ method: 'POST', path: '/keys/:keyId/revoke', onSuccess: onClose })
  return (
    <ConfirmDialog
      title={`Revoke API key ${apiKey.name}`}
      confirmationText={apiKey.name}
      confirmLabel="Revoke key"
      isPending={revoke.isPending}
      errorTitle="Couldn't revoke key"
      error={revoke.error}
      onConfirm={(confirm) =>
        revoke.mutate({ pathParams: { keyId: apiKey.keyId }, body: { confirm } })
      }
      onClose={onClose}
    >
      The next call with the key <span className="fg-mono">…{apiKey.last4}</span> of the project{' '}
      {apiKey.projectName} fails with UNAUTHORIZED. This cannot be undone. If a program still uses
      the key, create a new one first.
    </ConfirmDialog>
  )
}
