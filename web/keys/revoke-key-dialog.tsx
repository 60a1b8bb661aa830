import type { ConsoleKey } from '../api/responses.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'

type Props = { readonly apiKey: ConsoleKey; readonly onClose: () => void }

/** Shuts a key out for good, after its name was typed. */
export function RevokeKeyDialog({ apiKey, onClose }: Props) {
  const revoke = useApiMutation({ method: 'POST', path: '/keys/:keyId/revoke', onSuccess: onClose })
  return (
    <ConfirmDialog
      title="Revoke this key"
      confirmationText={apiKey.name}
      confirmLabel="Revoke"
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={(confirm) =>
        revoke.mutate({ pathParams: { keyId: apiKey.keyId }, body: { confirm } })
      }
      onClose={onClose}
    >
      From the next call on, whatever uses <span className="fg-mono">…{apiKey.last4}</span> is
      refused with UNAUTHORIZED. A revoked key never works again: make a new one first if a program
      still needs it.
    </ConfirmDialog>
  )
}
