import type { Key } from '../api/answers.ts'
import { useSend } from '../api/use-api.ts'
import { Confirm } from '../parts/confirm.tsx'

type Parts = { readonly apiKey: Key; readonly onClose: () => void }

/** Shuts a key out for good, after its name was typed. */
export function RevokeKey({ apiKey, onClose }: Parts) {
  const revoke = useSend({ method: 'POST', path: '/keys/:keyId/revoke', onDone: onClose })
  return (
    <Confirm
      title="Revoke this key"
      word={apiKey.name}
      verb="Revoke"
      isRunning={revoke.isPending}
      error={revoke.error}
      onConfirm={(confirm) => revoke.mutate({ parts: { keyId: apiKey.keyId }, body: { confirm } })}
      onClose={onClose}
    >
      From the next call on, whatever uses <span className="fg-mono">…{apiKey.last4}</span> is
      refused with UNAUTHORIZED. A revoked key never works again: make a new one first if a program
      still needs it.
    </Confirm>
  )
}
