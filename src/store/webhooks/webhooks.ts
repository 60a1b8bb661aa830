import type { Selectable } from 'kysely'
import { formatUtc } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import { type ReadTx, type Store, type Tx, sql } from '../database.ts'
import { deleteBatch, deleteInBatches } from '../delete-in-batches.ts'
import { type WebhookRow, type WebhookSecretRow, deletedEvents } from '../webhooks-schema.ts'
import { unfrozenProjects } from '../tenancy/projects.ts'
import { type WebhookEventType, faceEventTypes, parseEventTypes } from './event-types.ts'
import { type MatchFilter, parseMatchFilter } from './events.ts'

/** Maximum number of webhooks of a project. */
export const webhooksPerProjectMax = 10

/** A webhook without its last attempt. */
export type Webhook = Omit<
  Awaited<ReturnType<typeof findWebhooks>>[number],
  'attemptedAtMs' | 'status' | 'error'
>

export type NewWebhook = {
  readonly projectId: string
  readonly url: string
  readonly events: readonly WebhookEventType[]
  /** Applies to events about faces. */
  readonly matchFilter?: MatchFilter
}

/** @returns the id; undefined if the project has `webhooksPerProjectMax` webhooks already. */
export async function createWebhook(
  tx: Tx,
  { projectId, url, events, matchFilter = {} }: NewWebhook,
  nowMs: number,
): Promise<string | undefined> {
  await lockWebhooks(tx, projectId)
  if ((await findWebhooks(tx, { projectId })).length >= webhooksPerProjectMax) return undefined
  const webhookId = newId()
  const texts = { events: JSON.stringify(events), matchFilter: JSON.stringify(matchFilter) }
  const row = { webhookId, projectId, url, ...texts, createdAtUtc: formatUtc(nowMs) }
  await tx.run(tx.build.insertInto('webhooks').values(row))
  await countMatchWebhooks(tx, projectId)
  return webhookId
}

/** Replaces the events that a webhook receives, and the filter of its matches. */
export async function changeWebhookEvents(
  tx: Tx,
  { webhookId, projectId }: Pick<WebhookRow, 'webhookId' | 'projectId'>,
  { events, matchFilter }: Required<Pick<NewWebhook, 'events' | 'matchFilter'>>,
): Promise<void> {
  await lockWebhooks(tx, projectId)
  const texts = { events: JSON.stringify(events), matchFilter: JSON.stringify(matchFilter) }
  const query = tx.build.updateTable('webhooks').set(texts).where('webhookId', '=', webhookId)
  await tx.run(query.where('events', '!=', deletedEvents))
  await countMatchWebhooks(tx, projectId)
}

/**
 * Begins the deletion of a webhook. `removeDeletedWebhooks` completes it.
 *
 * @returns whether the webhook existed.
 */
export async function deleteWebhook(
  tx: Tx,
  { webhookId, projectId }: Pick<WebhookRow, 'webhookId' | 'projectId'>,
): Promise<boolean> {
  await lockWebhooks(tx, projectId)
  const query = tx.build.updateTable('webhooks').set({ events: deletedEvents })
  const existing = query.where('webhookId', '=', webhookId).where('events', '!=', deletedEvents)
  const deleted = await tx.run(existing.returning('webhookId'))
  await countMatchWebhooks(tx, projectId)
  return deleted.length > 0
}

/** Completes begun deletions of webhooks: deletes their deliveries in batches, then them and their secrets. */
export async function removeDeletedWebhooks(store: Pick<Store, 'read' | 'write'>): Promise<void> {
  const found = await store.read((reading) =>
    reading.run(unfrozenWebhooks(reading).where('events', '=', deletedEvents)),
  )
  for (const { webhookId } of found) {
    const isOfWebhook = sql<boolean>`"webhookId" = ${webhookId}`
    await deleteInBatches(store, (tx) => deleteBatch(tx, 'webhookDeliveries', isOfWebhook))
    // Another server may have deleted a part of a batch, or a call may have added a delivery.
    const isEmpty = sql<boolean>`not exists (select 1 from "webhookDeliveries" d
      where d."webhookId" = webhooks."webhookId")`
    await store.write(({ build, run }) =>
      run(build.deleteFrom('webhooks').where('webhookId', '=', webhookId).where(isEmpty)),
    )
  }
}

/** Changes of a project's webhooks run one after another, so that they are counted correctly. */
function lockWebhooks(tx: Tx, projectId: string): Promise<void> {
  return tx.lock(`webhooks ${projectId}`, 'exclusive')
}

/** A call reads this count with its key, so that projects without such webhooks need no query. */
async function countMatchWebhooks(tx: Tx, projectId: string): Promise<void> {
  const receives = faceEventTypes.map((type) => sql`events like ${`%"${type}"%`}`)
  const matchWebhooks = sql<number>`(select count(*) from webhooks
    where webhooks."projectId" = projects."projectId" and (${sql.join(receives, sql` or `)}))`
  await tx.run(
    tx.build.updateTable('projects').set({ matchWebhooks }).where('projectId', '=', projectId),
  )
}

export type WebhookFilter = {
  readonly accountId?: string | undefined
  readonly projectId?: string | undefined
  readonly webhookId?: string | undefined
}

/** Finds webhooks with their last attempts, the oldest first. */
export async function findWebhooks(tx: ReadTx, { accountId, projectId, webhookId }: WebhookFilter) {
  let query = tx.build
    .selectFrom('webhooks')
    .innerJoin('projects', 'projects.projectId', 'webhooks.projectId')
    .leftJoin('webhookDeliveries as last', (join) =>
      join
        .onRef('last.eventId', '=', 'webhooks.lastEventId')
        .onRef('last.webhookId', '=', 'webhooks.webhookId'),
    )
    .selectAll('webhooks')
    .select(['accountId', 'projects.name as projectName', pendingCount.as('pending')])
    .select(['attemptedAtMs', 'status', 'error'])
    .where('events', '!=', deletedEvents)
  if (accountId !== undefined) query = query.where('projects.accountId', '=', accountId)
  if (projectId !== undefined) query = query.where('webhooks.projectId', '=', projectId)
  if (webhookId !== undefined) query = query.where('webhooks.webhookId', '=', webhookId)
  const ordered = query.orderBy('webhooks.createdAtUtc').orderBy('webhooks.webhookId')
  return (await tx.run(ordered)).map((row) => ({
    ...row,
    events: parseEventTypes(row.events),
    matchFilter: parseMatchFilter(row.matchFilter),
  }))
}

/** Deliveries that were neither successful nor given up. */
const pendingCount = sql<number>`(select count(*) from "webhookDeliveries" d
  where d."webhookId" = webhooks."webhookId" and d.state = 'pending')`

/** Records the number of consecutive failures of a webhook and pauses it. */
export async function pauseWebhook(
  tx: Tx,
  webhookId: string,
  { failures, nowMs, pausedUntilMs }: WebhookPause,
): Promise<void> {
  const query = tx.build.updateTable('webhooks').set({
    failures,
    failingSinceMs: sql<number>`coalesce("failingSinceMs", ${nowMs})`,
    pausedUntilMs,
  })
  await tx.run(query.where('webhookId', '=', webhookId))
}

type WebhookPause = Pick<Webhook, 'failures' | 'pausedUntilMs'> & { readonly nowMs: number }

/** Ends the pause of a webhook, and with `isWorking` also its series of failures. */
export async function resumeWebhook(
  tx: Tx,
  webhookId: string,
  { isWorking }: { readonly isWorking: boolean },
): Promise<void> {
  const query = tx.build
    .updateTable('webhooks')
    .set({ pausedUntilMs: 0, ...(isWorking && { failures: 0, failingSinceMs: null }) })
    .where('webhookId', '=', webhookId)
  // Most deliveries succeed: then no row is written.
  await tx.run(
    query.where((row) => row.or([row('failures', '>', 0), row('pausedUntilMs', '>', 0)])),
  )
}

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
export function findWebhookSecrets(tx: ReadTx, webhookId: string, nowMs: number) {
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
  const expired = tx.build.deleteFrom('webhookSecrets').where('expiresAtMs', '<=', nowMs)
  await tx.run(expired.where('webhookId', 'in', unfrozenWebhooks(tx)))
}

/** Selects the webhooks whose rows may be changed. */
function unfrozenWebhooks(reading: ReadTx) {
  const webhooks = reading.build.selectFrom('webhooks').select('webhookId')
  return webhooks.where('projectId', 'in', unfrozenProjects(reading))
}
