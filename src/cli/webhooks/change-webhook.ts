import { readConfig } from '../../config.ts'
import { openKeyring } from '../../gallery/keys/keyring.ts'
import { masterKeyPath } from '../../start/open-gallery.ts'
import { addressRules } from '../../start/webhooks/open-webhooks.ts'
import { addAuditEntry } from '../../store/console/audit-log.ts'
import type { Store } from '../../store/database.ts'
import type { ReadTx, Tx } from '../../store/tx.ts'
import { findWebhooks, type Webhook } from '../../store/webhooks/webhooks.ts'
import { createWebhooks, type Webhooks } from '../../webhooks/webhooks.ts'

const actor = { userId: null, userName: 'command line', ip: '' }

type WebhookChange = { readonly tx: Tx; readonly webhooks: Webhooks; readonly nowMs: number }

type AuditedResult<T> = {
  readonly result: T
  readonly accountId: string
  readonly target: string
  /** It never contains a secret. */
  readonly detail: object
}

/** Changes a webhook in one transaction with its audit entry. */
export function changeWebhook<T>(
  store: Store,
  act: string,
  change: (context: WebhookChange) => Promise<AuditedResult<T>>,
): Promise<T> {
  const config = readConfig(process.env)
  const webhooks = createWebhooks(openKeyring(masterKeyPath(config)), addressRules(config))
  const nowMs = (store.timeOfDay ?? Date.now)()
  return store.write(async (tx) => {
    const { result, accountId, target, detail } = await change({ tx, webhooks, nowMs })
    const entry = { accountId, atMs: nowMs, ...actor, act, target }
    await addAuditEntry(tx, { ...entry, detail: JSON.stringify(detail) })
    return result
  })
}

/** @throws Error when there is no webhook with this id. */
export async function requireWebhook(tx: ReadTx, webhookId: string): Promise<Webhook> {
  const [webhook] = await findWebhooks(tx, { webhookId })
  if (!webhook) throw new Error(`there is no webhook ${webhookId}`)
  return webhook
}
