import type { Selectable } from 'kysely'
import type { ReadTx, Tx } from '../database.ts'
import type { WebhookSecretRow } from '../webhooks-schema.ts'

export type WrappedWebhookSecret = Selectable<WebhookSecretRow>

/** Adds the newest secret of a webhook. Its earlier secrets are valid until `expiresAtMs`. */
export async function addWebhookSecret(
  tx: Tx,
  secret: Omit<WrappedWebhookSecret, 'expiresAtMs'>,
  earlierExpireAtMs: number,
): Promise<void> {
  const { webhookId } = secret
  const ofWebhook = tx.build
    .updateTable('webhookSecrets')
    .set({ expiresAtMs: earlierExpireAtMs })
    .where('webhookId', '=', webhookId)
  await tx.run(
    ofWebhook.where((row) =>
      row.or([row('expiresAtMs', 'is', null), row('expiresAtMs', '>', earlierExpireAtMs)]),
    ),
  )
  await tx.run(tx.build.insertInto('webhookSecrets').values({ ...secret, expiresAtMs: null }))
}

/** Finds the valid secrets of a webhook, the newest first. */
export function findWebhookSecrets(
  tx: ReadTx,
  webhookId: string,
  nowMs: number,
): Promise<readonly WrappedWebhookSecret[]> {
  const query = tx.build
    .selectFrom('webhookSecrets')
    .selectAll()
    .where('webhookId', '=', webhookId)
    .where((row) => row.or([row('expiresAtMs', 'is', null), row('expiresAtMs', '>', nowMs)]))
  return tx.run(query.orderBy('createdAtMs', 'desc').orderBy('secretId'))
}

export function listWebhookSecrets(tx: ReadTx): Promise<readonly WrappedWebhookSecret[]> {
  return tx.run(tx.build.selectFrom('webhookSecrets').selectAll())
}

export async function updateWebhookSecret(
  tx: Tx,
  secretId: string,
  wrapped: Pick<WebhookSecretRow, 'masterKeyId' | 'wrapped'>,
): Promise<void> {
  await tx.run(tx.build.updateTable('webhookSecrets').set(wrapped).where('secretId', '=', secretId))
}

export async function deleteExpiredSecrets(tx: Tx, nowMs: number): Promise<void> {
  await tx.run(tx.build.deleteFrom('webhookSecrets').where('expiresAtMs', '<=', nowMs))
}
