import type { Keyring } from '../gallery/keys/keyring.ts'
import { createWebhookSecret } from '../gallery/keys/webhook-secrets.ts'
import { redeliver, type DeliveryId } from '../store/webhooks/deliveries.ts'
import { addTestEvent } from '../store/webhooks/events.ts'
import type { Tx } from '../store/database.ts'
import {
  createWebhook,
  resumeWebhook,
  type NewWebhook,
  type Webhook,
} from '../store/webhooks/webhooks.ts'
import { findUrlProblem, type AddressRules } from './address-rules.ts'
import { hourMs } from '../lib/clock.ts'

/** The changes of webhooks by an operator, for the console and the command line. */
export type Webhooks = ReturnType<typeof createWebhooks>

export function createWebhooks(keyring: Keyring, rules: AddressRules) {
  return {
    /** Returns what is wrong with a URL, or undefined. */
    findUrlProblem: (url: string) => findUrlProblem(url, rules),

    /** @returns undefined if the project has the maximum number of webhooks. */
    create: async (tx: Tx, webhook: NewWebhook, nowMs: number) => {
      const webhookId = await createWebhook(tx, webhook, nowMs)
      if (webhookId === undefined) return undefined
      const secret = { webhookId, nowMs, earlierExpireAtMs: nowMs }
      return { webhookId, secret: await createWebhookSecret(tx, keyring, secret) }
    },

    /**
     * Creates a new secret. Events are signed with the earlier one, too, for `overlapHours`.
     *
     * @returns the new secret.
     */
    rotateSecret: (
      tx: Tx,
      { webhookId }: Pick<Webhook, 'webhookId'>,
      { nowMs, overlapHours }: { readonly nowMs: number; readonly overlapHours: number },
    ) => {
      const earlierExpireAtMs = nowMs + overlapHours * hourMs
      return createWebhookSecret(tx, keyring, { webhookId, nowMs, earlierExpireAtMs })
    },

    /** Stores a test event, which is sent at once. @returns its id. */
    sendTest: async (tx: Tx, webhook: Pick<Webhook, 'webhookId' | 'projectId'>, nowMs: number) => {
      await resumeWebhook(tx, webhook.webhookId, { isWorking: false })
      return addTestEvent(tx, webhook, nowMs)
    },

    /** Sends an event again at once. @returns whether it exists. */
    redeliver: async (tx: Tx, delivery: DeliveryId, nowMs: number) => {
      await resumeWebhook(tx, delivery.webhookId, { isWorking: false })
      return redeliver(tx, delivery, nowMs)
    },
  }
}
