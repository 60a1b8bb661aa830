import { readConfig } from '../../config.ts'
import { openKeyring } from '../../gallery/keys/keyring.ts'
import { masterKeyPath } from '../../start/store-location.ts'
import { addressRules } from '../../start/webhooks/open-webhooks.ts'
import type { ReadTx, Store, Tx } from '../../store/database.ts'
import { findWebhooks, type Webhook } from '../../store/webhooks/webhooks.ts'
import { createWebhooks, type Webhooks } from '../../webhooks/webhooks.ts'
import { auditedChange, type AuditedResult } from '../audit/audited-change.ts'

type WebhookChange = { readonly tx: Tx; readonly webhooks: Webhooks; readonly nowMs: number }

/** Changes a webhook in one transaction with its audit entry. */
export function changeWebhook<T>(
  store: Store,
  auditAction: string,
  change: (context: WebhookChange) => Promise<AuditedResult<T>>,
): Promise<T> {
  const config = readConfig(process.env)
  const webhooks = createWebhooks(openKeyring(masterKeyPath(config)), addressRules(config))
  return auditedChange(store, auditAction, ({ tx, nowMs }) => change({ tx, webhooks, nowMs }))
}

/** @throws Error when there is no webhook with this id. */
export async function requireWebhook(tx: ReadTx, webhookId: string): Promise<Webhook> {
  const [webhook] = await findWebhooks(tx, { webhookId })
  if (!webhook) throw new Error(`there is no webhook ${webhookId}`)
  return webhook
}
