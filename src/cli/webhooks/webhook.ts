import { setTimeout as sleep } from 'node:timers/promises'
import { formatUtc } from '../../lib/utc.ts'
import type { Store } from '../../store/database.ts'
import { findDeliveries, type WebhookDelivery } from '../../store/webhooks/deliveries.ts'
import {
  allEventTypes,
  defaultEventTypes,
  type WebhookEventType,
} from '../../store/webhooks/event-types.ts'
import {
  deleteWebhook,
  findWebhooks,
  webhooksPerProjectMax,
} from '../../store/webhooks/webhooks.ts'
import type { Webhook } from '../../store/webhooks/webhooks.ts'
import { overlapHoursDefault, overlapHoursMax } from '../../webhooks/webhooks.ts'
import { subcommands, UsageError, type CliCommand } from '../command.ts'
import { parseArguments, parseOptions, requireArgument, requireOption, text } from '../options.ts'
import { formatTable, print } from '../output.ts'
import { requireProject, withStore } from '../with-store.ts'
import { changeWebhook, requireWebhook } from './change-webhook.ts'

export const webhook: CliCommand = {
  name: 'webhook',
  summary: 'send events of a project to an address',
  usage: `facegate webhook create --project <project> --url <https://…> [--events a,b|all] [--json]
facegate webhook list [--project <project>] [--json]
facegate webhook delete <webhookId> [--json]
facegate webhook test <webhookId> [--json]
facegate webhook deliveries <webhookId> [--state pending|delivered|failed] [--limit n] [--json]
facegate webhook redeliver <webhookId> <eventId> [--json]
facegate webhook rotate-secret <webhookId> [--overlap-hours n] [--json]

  create shows the signing secret only once. Events: ${allEventTypes.join(', ')}.
  Without --events, the webhook receives all but identify.matched.
  test sends a test event and waits up to 15 seconds for its result. A running server
  sends it.
  rotate-secret creates a new secret. Events are also signed with the earlier one for
  ${overlapHoursDefault} hours, or for --overlap-hours (0 to ${overlapHoursMax}).`,
  run: subcommands({
    create,
    list,
    delete: remove,
    test,
    deliveries,
    redeliver,
    'rotate-secret': rotateSecret,
  }),
}

async function create(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { project: text, url: text, events: text })
  const url = requireOption(values.url, 'the address', '--url <https://…>')
  const events = parseEvents(values.events)
  const created = await withStore(async (store) => {
    const { projectId, accountId } = await requireProject(store, values.project)
    return changeWebhook(store, 'webhook.create', async ({ tx, webhooks, nowMs }) => {
      const problem = webhooks.findUrlProblem(url)
      if (problem !== undefined) throw new UsageError(`--url ${problem}`)
      const added = await webhooks.create(tx, { projectId, url, events }, nowMs)
      if (!added) throw new Error(`a project has at most ${webhooksPerProjectMax} webhooks`)
      const detail = { projectId, url, events }
      return { result: { ...added, ...detail }, accountId, target: added.webhookId, detail }
    })
  })
  print(
    created,
    values.json,
    () =>
      `${created.secret}\n\nsigning secret of the webhook ${created.webhookId}, shown only once`,
  )
}

async function list(args: readonly string[]): Promise<void> {
  const { project, json } = parseOptions(args, { project: text })
  const found = await withStore(async (store) => {
    const projectId =
      project === undefined ? undefined : (await requireProject(store, project)).projectId
    return store.read((tx) => findWebhooks(tx, { projectId }))
  })
  print(found, json, () => webhookTable(found))
}

async function remove(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {})
  const webhookId = requireArgument(positionals, '<webhookId>')
  await withStore((store) =>
    changeWebhook(store, 'webhook.delete', async ({ tx }) => {
      const { accountId, projectId, url } = await requireWebhook(tx, webhookId)
      await deleteWebhook(tx, { webhookId, projectId })
      return { result: undefined, accountId, target: webhookId, detail: { projectId, url } }
    }),
  )
  print({ webhookId }, values.json, () => `the webhook ${webhookId} is deleted`)
}

async function rotateSecret(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, { 'overlap-hours': text })
  const webhookId = requireArgument(positionals, '<webhookId>')
  const overlapHours = parseWhole('--overlap-hours', values['overlap-hours'], {
    fallback: overlapHoursDefault,
    max: overlapHoursMax,
  })
  const secret = await withStore((store) =>
    changeWebhook(store, 'webhook.rotateSecret', async ({ tx, webhooks, nowMs }) => {
      const { accountId } = await requireWebhook(tx, webhookId)
      const result = await webhooks.rotateSecret(tx, { webhookId }, { nowMs, overlapHours })
      return { result, accountId, target: webhookId, detail: { overlapHours } }
    }),
  )
  print(
    { webhookId, secret, overlapHours },
    values.json,
    () =>
      `${secret}\n\nnew signing secret of the webhook ${webhookId}, shown only once; events are ` +
      `also signed with the earlier one for ${overlapHours} hours`,
  )
}

const testWaitMs = 15_000
const pollMs = 250

async function test(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {})
  const webhookId = requireArgument(positionals, '<webhookId>')
  const delivery = await withStore(async (store) => {
    const eventId = await changeWebhook(store, 'webhook.test', async ({ tx, webhooks, nowMs }) => {
      const found = await requireWebhook(tx, webhookId)
      const result = await webhooks.sendTest(tx, found, nowMs)
      const { accountId } = found
      return { result, accountId, target: webhookId, detail: { eventId: result } }
    })
    return waitForAttempt(store, { webhookId, eventId })
  })
  const { state, attempts, status, error, eventId } = delivery
  if (state !== 'delivered' && !values.json)
    throw new Error(
      attempts === 0 || error === null
        ? `the event ${eventId} was not sent within 15 seconds; is a server running?`
        : `the event ${eventId} was not delivered: ${error}`,
    )
  print(delivery, values.json, () => `the event ${eventId} was delivered, status ${status}`)
}

/** Returns the delivery when its first attempt has ended, or after `testWaitMs`. */
async function waitForAttempt(
  store: Store,
  { webhookId, eventId }: { readonly webhookId: string; readonly eventId: string },
): Promise<WebhookDelivery> {
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const filter = { webhookId, eventId, limit: 1 }
    const [delivery] = await store.read((tx) => findDeliveries(tx, filter))
    if (!delivery) throw new Error(`the event ${eventId} was deleted`)
    const hasEnded = delivery.state !== 'pending' || delivery.error !== null
    if (hasEnded || waitedMs >= testWaitMs) return delivery
    await sleep(pollMs)
  }
}

async function deliveries(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, { state: text, limit: text })
  const webhookId = requireArgument(positionals, '<webhookId>')
  const limit = parseWhole('--limit', values.limit, { fallback: 20, max: 1000 })
  const { state } = values
  if (state !== undefined && state !== 'pending' && state !== 'delivered' && state !== 'failed')
    throw new UsageError(`--state must be pending, delivered or failed, not ${state}`)
  const found = await withStore((store) =>
    store.read(async (tx) => {
      await requireWebhook(tx, webhookId)
      return findDeliveries(tx, { webhookId, state, limit })
    }),
  )
  print(found, values.json, () => deliveryTable(found))
}

async function redeliver(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {})
  const [webhookId, eventId] = positionals
  if (webhookId === undefined || eventId === undefined || positionals.length > 2)
    throw new UsageError('expected two arguments, <webhookId> <eventId>')
  await withStore((store) =>
    changeWebhook(store, 'webhook.redeliver', async ({ tx, webhooks, nowMs }) => {
      const { accountId } = await requireWebhook(tx, webhookId)
      if (!(await webhooks.redeliver(tx, { webhookId, eventId }, nowMs)))
        throw new Error(`the webhook ${webhookId} has no event ${eventId}`)
      return { result: undefined, accountId, target: webhookId, detail: { eventId } }
    }),
  )
  print({ webhookId, eventId }, values.json, () => `the event ${eventId} will be sent again`)
}

function parseEvents(list: string | undefined): readonly WebhookEventType[] {
  if (list === undefined) return defaultEventTypes
  if (list === 'all') return allEventTypes
  const names = list.split(',').map((name) => name.trim())
  return names.map((name) => {
    const type = allEventTypes.find((known) => known === name)
    if (type) return type
    throw new UsageError(`'${name}' is not an event; use ${allEventTypes.join(', ')} or all`)
  })
}

function parseWhole(
  option: string,
  value: string | undefined,
  { fallback, max }: { readonly fallback: number; readonly max: number },
): number {
  if (value === undefined) return fallback
  const number = /^\d{1,6}$/u.test(value) ? Number(value) : Number.NaN
  if (!(number <= max)) throw new UsageError(`${option} must be a whole number from 0 to ${max}`)
  return number
}

function webhookTable(found: readonly Webhook[]): string {
  return formatTable(
    ['id', 'project', 'url', 'events', 'pending', 'discarded', 'failing since'],
    found.map((row) => [
      row.webhookId,
      row.projectName,
      row.url,
      row.events.join(','),
      String(row.pending),
      String(row.discarded),
      row.failingSinceMs === null ? '' : formatUtc(row.failingSinceMs),
    ]),
  )
}

function deliveryTable(found: readonly WebhookDelivery[]): string {
  return formatTable(
    ['event', 'type', 'created', 'state', 'attempts', 'result'],
    found.map((row) => [
      row.eventId,
      row.type,
      formatUtc(row.createdAtMs),
      row.state,
      String(row.attempts),
      row.error ?? (row.status === null ? '' : `status ${row.status}`),
    ]),
  )
}
