import type { Generated } from 'kysely'
import type { GalleryKeyRow } from './gallery-schema.ts'

/** The address that receives the events of a project. */
export type WebhookRow = {
  readonly webhookId: string
  readonly projectId: string
  readonly url: string
  /** JSON array of event types. */
  readonly events: string
  /** JSON object: a `MatchFilter`. */
  readonly matchFilter: Generated<string>
  readonly createdAtUtc: string
  /** The number of consecutive failed attempts. */
  readonly failures: Generated<number>
  /** The first of these failures; null: the last attempt succeeded, or there was none. */
  readonly failingSinceMs: Generated<number | null>
  /** Until then no delivery is attempted. */
  readonly pausedUntilMs: Generated<number>
  /** A delivery of the last attempts; null: there was none. */
  readonly lastEventId: Generated<string | null>
  /** Events that were not stored because the outbox was full. */
  readonly discarded: Generated<number>
}

/** The events of a webhook whose deletion has begun. Lists do not contain it, and it sends nothing. */
export const deletedEvents = '[]'

/** A signing secret, wrapped with a master key. The newest secret of a webhook has no expiry. */
export type WebhookSecretRow = Pick<GalleryKeyRow, 'masterKeyId' | 'wrapped' | 'createdAtMs'> & {
  readonly secretId: string
  readonly webhookId: string
  readonly expiresAtMs: number | null
}

export const deliveryStates = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** An event for one webhook. Webhooks that receive the same event store the same event id. */
export type WebhookDeliveryRow = {
  readonly eventId: string
  readonly webhookId: string
  readonly projectId: string
  readonly type: string
  /** A JSON object. */
  readonly data: string
  /** The time of the event. */
  readonly createdAtMs: number
  /** The same, or the time at which an operator made it pending again. */
  readonly queuedAtMs: number
  readonly state: Generated<DeliveryState>
  readonly attempts: Generated<number>
  /** The next attempt. A server that attempts a delivery sets it to the end of its lease. */
  readonly dueAtMs: Generated<number>
  readonly attemptedAtMs: Generated<number | null>
  /** The HTTP status of the last attempt, if there was a response. */
  readonly status: Generated<number | null>
  /** Why the last attempt failed. */
  readonly error: Generated<string | null>
}
