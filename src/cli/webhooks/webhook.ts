import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '../../config.ts'
import { matchFilter } from '../../console/pages/webhooks/webhooks.ts'
import { openKeyring } from '../../gallery/keys/keyring.ts'
import { formatUtc } from '../../lib/clock.ts'
import { masterKeyPath } from '../../start/store-location.ts'
import { addressRules } from '../../start/webhooks/open-webhooks.ts'
import type { ExclusiveTransaction, ReadTx, Store } from '../../store/database.ts'
import { type ListedDelivery, findDeliveries } from '../../store/webhooks/deliveries.ts'
import {
  type WebhookEventType,
  allEventTypes,
  defaultEventTypes,
  isFaceEvent,
} from '../../store/webhooks/event-types.ts'
import type { MatchFilter } from '../../store/webhooks/events.ts'
import {
  type Webhook,
  deleteWebhook,
  findWebhooks,
  removeDeletedWebhooks,
  webhooksPerProjectMax,
} from '../../store/webhooks/webhooks.ts'
import { withoutPath } from '../../webhooks/address-rules.ts'
import { type Webhooks, createWebhooks } from '../../webhooks/webhooks.ts'
import { type AuditedResult, changeDatabase } from '../audit/audited-change.ts'
import { type CommandValues, UsageError, print, printRows } from '../command.ts'
import { findProjectId, requireProject, withStore } from '../with-store.ts'

type NewWebhookOptions = CommandValues<'project' | 'url'> & {
  readonly events: readonly string[] | undefined
  readonly groups: readonly string[] | undefined
  readonly outcomes: readonly string[] | undefined
  readonly 'min-similarity': number | undefined
}

export async function create({ url, ...values }: NewWebhookOptions): Promise<void> {
  const events = selectEvents(values.events)
  const filter = readFilter(values, events)
  const created = await changeWebhook('webhook.create', async ({ db, tx, webhooks, nowMs }) => {
    const { projectId, accountId } = await requireProject({ db }, values.project)
    const problem = webhooks.findUrlProblem(url)
    if (problem !== undefined) throw new UsageError(`--url ${problem}`)
    const settings = { projectId, url, events, matchFilter: filter }
    const added = await webhooks.create(tx, settings, nowMs)
    if (!added) throw new Error(`a project has at most ${webhooksPerProjectMax} webhooks`)
    const detail = { ...settings, url: withoutPath(url) }
    return { result: { ...added, ...settings }, accountId, target: added.webhookId, detail }
  })
  const { secret, webhookId } = created
  const text = `${secret}\n\nsigning secret of the webhook ${webhookId}, shown only once`
  print(created, values.json, () => text)
}

export async function list({ project, json }: CommandValues<never, 'project'>): Promise<void> {
  const found = await withStore(async (store) => {
    const projectId = await findProjectId(store, project)
    return store.read((tx) => findWebhooks(tx, { projectId }))
  })
  printRows(found, json, {
    id: 'webhookId',
    project: 'projectName',
    url: 'url',
    events: 'events',
    filter: ({ matchFilter: { groups = [], outcomes = [], minSimilarity } }) => [
      ...groups,
      ...outcomes,
      ...(minSimilarity === undefined ? [] : [`>= ${minSimilarity}`]),
    ],
    pending: 'pending',
    discarded: 'discarded',
    'failing since': ({ failingSinceMs: ms }) => (ms === null ? '' : formatUtc(ms)),
  })
}

export async function remove({ webhookId, json }: CommandValues<'webhookId'>): Promise<void> {
  await changeWebhook('webhook.delete', async ({ tx }) => {
    const { accountId, projectId, url } = await requireWebhook(tx, webhookId)
    await deleteWebhook(tx, { webhookId, projectId })
    const detail = { projectId, url: withoutPath(url) }
    return { result: undefined, accountId, target: webhookId, detail }
  })
  await withStore(removeDeletedWebhooks)
  print({ webhookId }, json, () => `the webhook ${webhookId} is deleted`)
}

export async function rotateSecret({
  webhookId,
  'overlap-hours': overlapHours,
  json,
}: CommandValues<'webhookId'> & { readonly 'overlap-hours': number }): Promise<void> {
  const secret = await changeWebhook('webhook.rotateSecret', async ({ tx, webhooks, nowMs }) => {
    const { accountId } = await requireWebhook(tx, webhookId)
    const result = await webhooks.rotateSecret(tx, { webhookId }, { nowMs, overlapHours })
    return { result, accountId, target: webhookId, detail: { overlapHours } }
  })
  const text =
    `${secret}\n\nnew signing secret of the webhook ${webhookId}, shown only once; events are ` +
    `also signed with the earlier one for ${overlapHours} hours`
  print({ webhookId, secret, overlapHours }, json, () => text)
}

function selectEvents(names: readonly string[] | undefined): readonly WebhookEventType[] {
  if (names === undefined) return defaultEventTypes
  return names.includes('all')
    ? allEventTypes
    : allEventTypes.filter((type) => names.includes(type))
}

/** @throws UsageError for the name of a group that cannot exist, or a filter without an effect. */
function readFilter(
  { groups, outcomes, 'min-similarity': minSimilarity }: Omit<NewWebhookOptions, 'url'>,
  events: readonly WebhookEventType[],
): MatchFilter {
  const filter = {
    ...(groups && { groups: [...new Set(groups)] }),
    ...(outcomes && { outcomes }),
    ...(minSimilarity !== undefined && { minSimilarity }),
  }
  if (Object.keys(filter).length > 0 && !events.some(isFaceEvent))
    throw new UsageError(
      '--groups, --outcomes and --min-similarity apply only to events about faces, such as identify.matched; add one to --events',
    )
  const parsed = matchFilter.safeParse(filter)
  if (parsed.success) return parsed.data
  throw new UsageError(`--groups: ${parsed.error.issues[0]?.message}`)
}

const testWaitMs = 15_000
const pollMs = 250

/** Sends a test event and waits for its first attempt. */
export async function sendTestEvent({ webhookId, json }: CommandValues<'webhookId'>) {
  const eventId = await changeWebhook('webhook.test', async ({ tx, webhooks, nowMs }) => {
    const found = await requireWebhook(tx, webhookId)
    const result = await webhooks.sendTest(tx, found, nowMs)
    const { accountId, pausedUntilMs, failures } = found
    const pause = `paused until ${formatUtc(pausedUntilMs)} after ${failures} failed attempts`
    if (pausedUntilMs > nowMs) console.error(`the webhook was ${pause}; the test ends the pause`)
    return { result, accountId, target: webhookId, detail: { eventId: result } }
  })
  const filter = { webhookId, eventId, limit: 1 }
  const delivery = await withStore((store) => waitForAttempt(store, filter))
  const { state, attempts, status, error } = delivery
  if (state !== 'delivered' && !json)
    throw new Error(
      attempts === 0 || error === null
        ? `the event ${eventId} was not sent within 15 seconds; is a server running?`
        : `the event ${eventId} was not delivered: ${error}`,
    )
  print(delivery, json, () => `the event ${eventId} was delivered, status ${status}`)
}

/** Returns the delivery when its first attempt has ended, or after `testWaitMs`. */
async function waitForAttempt(store: Store, filter: Parameters<typeof findDeliveries>[1]) {
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const [delivery] = await store.read((tx) => findDeliveries(tx, filter))
    if (!delivery) throw new Error(`the event ${filter.eventId} was deleted`)
    const hasEnded = delivery.state !== 'pending' || delivery.error !== null
    if (hasEnded || waitedMs >= testWaitMs) return delivery
    await sleep(pollMs)
  }
}

/** Lists the deliveries of a webhook, the newest first. */
export async function listDeliveries({
  webhookId,
  state,
  limit,
  json,
}: CommandValues<'webhookId'> & {
  readonly state: ListedDelivery['state'] | undefined
  readonly limit: number
}): Promise<void> {
  const found = await withStore((store) =>
    store.read(async (tx) => {
      await requireWebhook(tx, webhookId)
      return findDeliveries(tx, { webhookId, state, limit })
    }),
  )
  printRows(found, json, {
    event: 'eventId',
    type: 'type',
    created: ({ createdAtMs }) => formatUtc(createdAtMs),
    state: 'state',
    attempts: 'attempts',
    result: ({ error, status }) => error ?? (status === null ? '' : `status ${status}`),
  })
}

/** Makes a running server send an event again. */
export async function redeliverEvent(values: CommandValues<'webhookId' | 'eventId'>) {
  const { webhookId, eventId, json } = values
  await changeWebhook('webhook.redeliver', async ({ tx, webhooks, nowMs }) => {
    const { accountId } = await requireWebhook(tx, webhookId)
    if (!(await webhooks.redeliver(tx, { webhookId, eventId }, nowMs)))
      throw new Error(`the webhook ${webhookId} has no event ${eventId}`)
    return { result: undefined, accountId, target: webhookId, detail: { eventId } }
  })
  print({ webhookId, eventId }, json, () => `the event ${eventId} will be sent again`)
}

type WebhookChange = ExclusiveTransaction & { readonly webhooks: Webhooks; readonly nowMs: number }

/** Changes a webhook in one transaction with its audit entry. */
function changeWebhook<T>(
  auditAction: string,
  change: (context: WebhookChange) => Promise<AuditedResult<T>>,
): Promise<T> {
  const config = readConfig(process.env)
  const webhooks = createWebhooks(openKeyring(masterKeyPath(config)), addressRules(config))
  return changeDatabase(auditAction, (context) => change({ ...context, webhooks }))
}

/** @throws Error when there is no webhook with this id. */
async function requireWebhook(tx: ReadTx, webhookId: string): Promise<Webhook> {
  const [webhook] = await findWebhooks(tx, { webhookId })
  if (!webhook) throw new Error(`there is no webhook ${webhookId}`)
  return webhook
}
