import type { Selectable } from 'kysely'
import { mapSequential } from '../../lib/account-context.ts'
import { type ReadTx, type Tx, dialectOf, sql } from '../database.ts'
import { deleteBatch, isInBatch } from '../delete-in-batches.ts'
import { selectPage, type ListOrder } from '../lists.ts'
import { isUnfrozen } from '../tenancy/projects.ts'
import {
  type DeliveryState,
  type WebhookDeliveryRow,
  deletedEvents,
  deliveryStates,
} from '../webhooks-schema.ts'

export type WebhookDelivery = Selectable<WebhookDeliveryRow>
export type DeliveryId = Pick<WebhookDelivery, 'eventId' | 'webhookId'>

/**
 * Finds webhooks that are not paused and have a due delivery: first the longest due one of each account,
 * then the second ones. Equal ones are in random order, so that a backlog does not always come first.
 */
export async function findDueWebhooks(
  tx: ReadTx,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): Promise<readonly { readonly webhookId: string; readonly accountId: string }[]> {
  const dueAtMs = sql<number | null>`(select min("dueAtMs") from "webhookDeliveries" d
    where d."webhookId" = webhooks."webhookId" and d.state = 'pending')`
  const due = tx.build
    .selectFrom('webhooks')
    .innerJoin('projects', 'projects.projectId', 'webhooks.projectId')
    .select(['webhookId', 'accountId', dueAtMs.as('dueAtMs')])
    .where('pausedUntilMs', '<=', nowMs)
    .where('isFrozen', '=', 0)
    .where('events', '!=', deletedEvents)
    .as('due')
  const place = sql<number>`row_number() over (partition by "accountId"
    order by "dueAtMs", random())`
  const ranked = tx.build
    .selectFrom(due)
    .select(['webhookId', 'accountId', 'dueAtMs', place.as('place')])
    .where('dueAtMs', '<=', nowMs)
    .as('ranked')
  const query = tx.build.selectFrom(ranked).select(['webhookId', 'accountId']).orderBy('place')
  return tx.run(query.orderBy(sql`random()`).limit(limit))
}

export type DeliveryClaim = {
  readonly webhookId: string
  readonly nowMs: number
  /** Another server may claim the deliveries from then on. */
  readonly leaseUntilMs: number
  /** Deliveries of a webhook whose last attempt failed are attempted one by one. */
  readonly limit: number
}

/** Claims due deliveries of a webhook and counts an attempt of each. */
export async function claimDeliveries(
  tx: Tx,
  { webhookId, nowMs, leaseUntilMs, limit }: DeliveryClaim,
): Promise<readonly (WebhookDelivery & { readonly url: string; readonly failures: number })[]> {
  const found = tx.build
    .selectFrom('webhooks')
    .select(['url', 'failures'])
    .where('webhookId', '=', webhookId)
    .where('pausedUntilMs', '<=', nowMs)
    .where('events', '!=', deletedEvents)
  const [webhook] = await tx.run(found)
  if (!webhook) return []
  const due = tx.build
    .selectFrom('webhookDeliveries')
    .select('eventId')
    .where('webhookId', '=', webhookId)
    .where('state', '=', sql.lit<DeliveryState>('pending'))
    .where('dueAtMs', '<=', nowMs)
    .orderBy('dueAtMs')
    .limit(webhook.failures > 0 ? 1 : limit)
  // Of several servers, each delivery is claimed by one.
  const locked = dialectOf(tx.build).hasRowLocks ? due.forUpdate().skipLocked() : due
  const claim = tx.build
    .updateTable('webhookDeliveries')
    .set({ dueAtMs: leaseUntilMs, attempts: sql<number>`attempts + 1`, attemptedAtMs: nowMs })
    .where('webhookId', '=', webhookId)
    .where('eventId', 'in', locked)
    .returningAll()
  const claimed = await tx.run(claim)
  const lastEventId = claimed[0]?.eventId
  const change = tx.build.updateTable('webhooks').set({ lastEventId })
  if (lastEventId !== undefined) await tx.run(change.where('webhookId', '=', webhookId))
  return claimed.map((row) => ({ ...row, ...webhook }))
}

export type DeliveryResult = Pick<WebhookDelivery, 'state' | 'dueAtMs' | 'status' | 'error'>

/**
 * Stores the result of an attempt.
 *
 * @returns false if the lease ended and another server has claimed the delivery since.
 */
export async function recordAttempt(
  tx: Tx,
  delivery: DeliveryId & Pick<WebhookDelivery, 'attempts'>,
  result: DeliveryResult,
): Promise<boolean> {
  return (await tx.run(ownDelivery(tx, delivery).set(result).returning('eventId'))).length > 0
}

/** Gives a claimed delivery back that was not attempted, because the server stops. */
export async function releaseDelivery(
  tx: Tx,
  delivery: DeliveryId & Pick<WebhookDelivery, 'attempts'>,
): Promise<void> {
  const released = { dueAtMs: 0, attempts: delivery.attempts - 1 }
  await tx.run(ownDelivery(tx, delivery).set(released))
}

function ownDelivery(
  tx: Tx,
  { eventId, webhookId, attempts }: DeliveryId & Pick<WebhookDelivery, 'attempts'>,
) {
  return tx.build
    .updateTable('webhookDeliveries')
    .where('eventId', '=', eventId)
    .where('webhookId', '=', webhookId)
    .where('state', '=', 'pending')
    .where('attempts', '=', attempts)
}

/** Makes a delivery pending again, with all its attempts. @returns whether it exists. */
export async function redeliver(tx: Tx, { eventId, webhookId }: DeliveryId, nowMs: number) {
  const query = tx.build
    .updateTable('webhookDeliveries')
    .set({ state: 'pending', attempts: 0, dueAtMs: 0, queuedAtMs: nowMs })
    .where('eventId', '=', eventId)
    .where('webhookId', '=', webhookId)
    .returning('eventId')
  return (await tx.run(query)).length > 0
}

export type DeliveryFilter = ListOrder<Pick<WebhookDelivery, 'createdAtMs' | 'eventId'>> & {
  readonly webhookId: string
  readonly eventId?: string | undefined
  readonly state?: DeliveryState | undefined
  readonly type?: string | undefined
}

/** What lists show: the data of an event can be 64 kB. */
const listedColumns = [
  'eventId',
  'webhookId',
  'projectId',
  'type',
  'createdAtMs',
  'queuedAtMs',
  'state',
  'attempts',
  'dueAtMs',
  'attemptedAtMs',
  'status',
  'error',
] as const
export type ListedDelivery = Pick<WebhookDelivery, (typeof listedColumns)[number]>

/** Finds deliveries of a webhook without their data, by default the newest first. */
export async function findDeliveries(tx: ReadTx, filter: DeliveryFilter) {
  const states = filter.state === undefined ? deliveryStates : [filter.state]
  const found = (await mapSequential(states, (state) => findOfState(tx, state, filter))).flat()
  const sign = filter.isAscending === true ? 1 : -1
  found.sort((a, b) => sign * (a.createdAtMs - b.createdAtMs || (a.eventId < b.eventId ? -1 : 1)))
  return found.slice(0, filter.limit)
}

function findOfState(
  tx: ReadTx,
  state: DeliveryState,
  { webhookId, eventId, type, isAscending = false, after, limit }: DeliveryFilter,
): Promise<readonly ListedDelivery[]> {
  let query = tx.build
    .selectFrom('webhookDeliveries')
    .select(listedColumns)
    .where('webhookId', '=', webhookId)
    .where('state', '=', state)
  if (eventId !== undefined) query = query.where('eventId', '=', eventId)
  if (type !== undefined) query = query.where('type', '=', type)
  const page = selectPage(query, {
    columns: ['createdAtMs', 'eventId'],
    after: after && [after.createdAtMs, after.eventId],
    isDescending: !isAscending,
    limit,
  })
  return tx.run(page)
}

/** Finds what a delivery sends, as JSON; undefined if the webhook has no such event. */
export async function findDeliveryData(tx: ReadTx, { webhookId, eventId }: DeliveryId) {
  const query = tx.build.selectFrom('webhookDeliveries').select('data')
  const ofWebhook = query.where('webhookId', '=', webhookId).where('eventId', '=', eventId)
  return (await tx.run(ofWebhook))[0]?.data
}

export type OutboxCounts = Awaited<ReturnType<typeof countOutbox>>

/** Counts the pending deliveries and the discarded events of all webhooks. */
export async function countOutbox(tx: ReadTx) {
  const pending = sql<number>`(select count(*) from "webhookDeliveries" where state = 'pending')`
  const query = tx.build.selectFrom('webhooks').select([
    pending.as('pending'),
    // Events that were discarded because the outbox of a webhook was full.
    sql<number>`coalesce(sum(discarded), 0)`.as('discarded'),
    // Webhooks whose last attempt failed.
    sql<number>`coalesce(sum(case when failures > 0 then 1 else 0 end), 0)`.as('failing'),
  ])
  const [row] = await tx.run(query)
  return row ?? { pending: 0, discarded: 0, failing: 0 }
}

type OldDeliveries = Pick<WebhookDelivery, 'state'> & { readonly beforeMs: number }

/** Gives up a batch of pending deliveries queued before that time. @returns the number. */
export async function expireDeliveries(
  tx: Tx,
  { error, ...filter }: Omit<OldDeliveries, 'state'> & { readonly error: string },
): Promise<number> {
  const old = selectOld({ ...filter, state: 'pending' })
  const reason = sql<string>`coalesce(error || '; ', '') || cast(${error} as text)`
  const query = tx.build
    .updateTable('webhookDeliveries')
    .set({ state: 'failed', error: reason })
    .where(isInBatch(tx, 'webhookDeliveries', old))
    // SQLite would read every pending delivery of these webhooks by the index.
    .where(dialectOf(tx.build).withoutIndex('state'), '=', 'pending')
    .returning('eventId')
  return (await tx.run(query)).length
}

/** Deletes a batch of deliveries of a state queued before that time. @returns the number. */
export function deleteOldDeliveries(tx: Tx, filter: OldDeliveries): Promise<number> {
  return deleteBatch(tx, 'webhookDeliveries', selectOld(filter))
}

function selectOld({ state, beforeMs }: OldDeliveries) {
  return sql<boolean>`state = ${state} and "queuedAtMs" <= ${beforeMs}
    and ${isUnfrozen('webhookDeliveries')} order by "queuedAtMs"`
}
