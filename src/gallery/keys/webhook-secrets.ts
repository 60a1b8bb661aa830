import { randomBytes } from 'node:crypto'
import { newId } from '../../lib/ids.ts'
import { addWebhookSecret, type WrappedWebhookSecret } from '../../store/webhooks/webhooks.ts'
import type { Tx } from '../../store/database.ts'
import type { Keyring } from './keyring.ts'

/** Of a secret's text, before its 32 random bytes in base64url. */
const webhookSecretPrefix = 'whsec_'

const webhookSecretBytes = 32

/**
 * Creates the newest signing secret of a webhook and stores it wrapped with the master key. Earlier
 * secrets stay valid until `earlierExpireAtMs`.
 *
 * @returns the text of the secret. It is stored nowhere else.
 */
export async function createWebhookSecret(
  tx: Tx,
  keyring: Keyring,
  { webhookId, nowMs, earlierExpireAtMs }: NewSecret,
): Promise<string> {
  const wrap = await keyring.wrapIn(tx)
  const secretId = newId()
  const text = webhookSecretPrefix + randomBytes(webhookSecretBytes).toString('base64url')
  const wrapped = wrap(Buffer.from(text), webhookSecretBinding({ secretId, webhookId }))
  const row = { secretId, webhookId, ...wrapped, createdAtMs: nowMs }
  await addWebhookSecret(tx, row, earlierExpireAtMs)
  return text
}

type NewSecret = {
  readonly webhookId: string
  readonly nowMs: number
  readonly earlierExpireAtMs: number
}

/** @throws Error if the master key that wrapped it is not in the file. */
export function unwrapWebhookSecret(keyring: Keyring, secret: WrappedWebhookSecret): string {
  return keyring.unwrap(secret, webhookSecretBinding(secret)).toString()
}

/** The ids that the ciphertext is bound to. */
export function webhookSecretBinding({
  secretId,
  webhookId,
}: Pick<WrappedWebhookSecret, 'secretId' | 'webhookId'>): string {
  return `webhook-secret|${webhookId}|${secretId}`
}
