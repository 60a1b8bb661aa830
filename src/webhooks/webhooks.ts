import type { Keyring } from '../gallery/keys/keyring.ts'
import { createWebhookSecret } from '../gallery/keys/webhook-secrets.ts'
import { redeliver, type DeliveryId } from '../store/webhooks/deliveries.ts'
import { addTestEvent } from '../store/webhooks/events.ts'
import type { Tx } from '../store/tx.ts'
import {
  createWebhook,
  resumeWebhook,
  type NewWebhook,
  type Webhook,
} from '../store/webhooks/webhooks.ts'
import { findUrlProblem, type AddressRules } from './address-rules.ts'

/** The changes of webhooks by an operator, for the console and the command line. */
export type Webhooks = {
  /** Returns what is wrong with a URL, or undefined. */
  readonly findUrlProblem: (url: string) => string | undefined
  /** @returns undefined if the project has the maximum number of webhooks. */
  readonly create: (
    tx: Tx,
    webhook: NewWebhook,
    nowMs: number,
  ) => Promise<{ readonly webhookId: string; readonly secret: string } | undefined>
  /**
   * Creates a new secret. Events are signed with the earlier one, too, for `overlapHours`.
   *
   * @returns the new secret.
   */
  readonly rotateSecret: (
    tx: Tx,
    webhook: Pick<Webhook, 'webhookId'>,
    rotation: { readonly nowMs: number; readonly overlapHours: number },
  ) => Promise<string>
  /** Stores a test event, which is sent at once. @returns its id. */
  readonly sendTest: (tx: Tx, webhook: WebhookIds, nowMs: number) => Promise<string>
  /** Sends an event again at once. @returns whether it exists. */
  readonly redeliver: (tx: Tx, delivery: DeliveryId, nowMs: number) => Promise<boolean>
}

type WebhookIds = Pick<Webhook, 'webhookId' | 'projectId'>

/** For how long events are also signed with the earlier secret. */
export const overlapHoursDefault = 24
export const overlapHoursMax = 168

const hourMs = 3_600_000

export function createWebhooks(keyring: Keyring, rules: AddressRules): Webhooks {
  return {
    findUrlProblem: (url) => findUrlProblem(url, rules),
    create: async (tx, webhook, nowMs) => {
      const webhookId = await createWebhook(tx, webhook, nowMs)
      if (webhookId === undefined) return undefined
      const secret = { webhookId, nowMs, earlierExpireAtMs: nowMs }
      return { webhookId, secret: await createWebhookSecret(tx, keyring, secret) }
    },
    rotateSecret: (tx, { webhookId }, { nowMs, overlapHours }) =>
      createWebhookSecret(tx, keyring, {
        webhookId,
        nowMs,
        earlierExpireAtMs: nowMs + overlapHours * hourMs,
      }),
    sendTest: async (tx, webhook, nowMs) => {
      await resumeWebhook(tx, webhook.webhookId, { isWorking: false })
      return addTestEvent(tx, webhook, nowMs)
    },
    redeliver: async (tx, delivery, nowMs) => {
      await resumeWebhook(tx, delivery.webhookId, { isWorking: false })
      return redeliver(tx, delivery, nowMs)
    },
  }
}
