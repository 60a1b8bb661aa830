import { z } from 'zod'
import { groupName } from '../../../actions/schemas/fields.ts'
import { HttpError } from '../../../lib/errors.ts'
import {
  allEventTypes,
  defaultEventTypes,
  isFaceEvent,
  webhookEventTypes,
} from '../../../store/webhooks/event-types.ts'
import { matchOutcomes } from '../../../store/webhooks/events.ts'
import * as stored from '../../../store/webhooks/webhooks.ts'
import type { ReadTx } from '../../../store/database.ts'
import { withoutPath } from '../../../webhooks/address-rules.ts'
import { formatUtc } from '../../../lib/clock.ts'
import { overlapHoursDefault, overlapHoursMax } from '../../../lib/limits/webhook-limits.ts'
import { isAllowed } from '../../auth/identity.ts'
import { defineRead, defineWrite } from '../../server/console-route.ts'
import { type AccountPath, id, invalidField, requireProject } from '../../server/input.ts'
import texts from '../../field-texts.json' with { type: 'json' }

const eventType = z.enum(allEventTypes)

/** The matches that a webhook receives. */
export const matchFilter = z.strictObject({
  groups: z.array(groupName).min(1).max(20).optional(),
  outcomes: z.array(z.enum(matchOutcomes)).min(1).max(2).optional(),
  minSimilarity: z.number().min(0).max(1).optional(),
})

const webhookItem = z.object({
  webhookId: z.string(),
  projectId: z.string(),
  projectName: z.string(),
  url: z.string().describe(texts.webhooks.url),
  events: z.array(eventType),
  matchFilter,
  createdAtUtc: z.string(),
  pending: z.number(),
  discarded: z.number().describe(texts.webhooks.discarded),
  failures: z.number().describe(texts.webhooks.failures),
  failingSinceUtc: z.string().nullable(),
  pausedUntilUtc: z.string().nullable().describe(texts.webhooks.pausedUntilUtc),
})

const lastAttempt = z.object({
  attemptedAtUtc: z.string(),
  status: z.number().nullable(),
  error: z.string().nullable(),
})

/** The events of a webhook, and which matches it receives. */
const receivedEvents = z.strictObject({
  events: z.array(eventType).min(1),
  matchFilter: matchFilter.default({}).describe(texts.webhooks.matchFilter),
})

const secret = z.string().describe(texts.webhooks.secret)

export const listWebhooks = defineRead('/webhooks', {
  query: z.strictObject({ projectId: id.optional() }),
  response: z.object({
    items: z.array(webhookItem.extend({ lastAttempt: lastAttempt.nullable() })),
    eventTypes: z.array(z.object({ type: eventType, summary: z.string(), isDefault: z.boolean() })),
    webhooksPerProjectMax: z.number(),
  }),
  handle: async ({ query, identity, services: { store, clock } }) => {
    const filter = { ...query, accountId: identity.accountId }
    const webhooks = await store.read((tx) => stored.findWebhooks(tx, filter))
    const eventTypes = allEventTypes.map((type) => ({
      type,
      summary: webhookEventTypes[type],
      isDefault: defaultEventTypes.includes(type),
    }))
    const isManager = isAllowed(identity.role, 'admin')
    const items = webhooks.map(({ attemptedAtMs, status, error, ...webhook }) => ({
      ...toItem(webhook, clock()),
      url: isManager ? webhook.url : withoutPath(webhook.url),
      lastAttempt:
        attemptedAtMs === null ? null : { status, error, attemptedAtUtc: formatUtc(attemptedAtMs) },
    }))
    return { items, eventTypes, webhooksPerProjectMax: stored.webhooksPerProjectMax }
  },
})

export const addWebhook = defineWrite('/webhooks', {
  auditAction: 'webhook.create',
  body: receivedEvents.extend({ projectId: id, url: z.string().min(1) }),
  response: webhookItem.extend({ secret }),
  handle: async ({ body, identity, services: { webhooks, clock } }, { tx }) => {
    const pathParameters = { projectId: body.projectId }
    const { projectId } = await requireProject(tx, { pathParameters, identity })
    const problem = webhooks.findUrlProblem(body.url)
    if (problem !== undefined) throw invalidField('body.url', problem)
    const settings = { projectId, url: body.url, ...toReceivedEvents(body) }
    const created = await webhooks.create(tx, settings, clock())
    if (!created)
      throw new HttpError(409, `A project has at most ${stored.webhooksPerProjectMax} webhooks.`)
    const { webhookId } = created
    const webhook = await requireWebhook(tx, { pathParameters: { webhookId }, identity })
    const response = { ...toItem(webhook, clock()), secret: created.secret }
    const detail = { ...settings, url: withoutPath(settings.url) }
    return { response, target: webhookId, detail }
  },
})

export const editWebhook = defineWrite('/webhooks/:webhookId', {
  method: 'PATCH',
  auditAction: 'webhook.edit',
  body: receivedEvents,
  response: webhookItem,
  handle: async (call, { tx }) => {
    const received = toReceivedEvents(call.body)
    const webhook = await requireWebhook(tx, call)
    await stored.changeWebhookEvents(tx, webhook, received)
    const response = toItem({ ...webhook, ...received }, call.services.clock())
    return { response, target: webhook.webhookId, detail: received }
  },
})

export const removeWebhook = defineWrite('/webhooks/:webhookId', {
  method: 'DELETE',
  auditAction: 'webhook.delete',
  handle: async (call, { tx }) => {
    const webhook = await requireWebhook(tx, call)
    const { webhookId, projectId, url } = webhook
    await stored.deleteWebhook(tx, webhook)
    const detail = { projectId, url: withoutPath(url) }
    return { response: undefined, target: webhookId, detail }
  },
})

export const rotateWebhookSecret = defineWrite('/webhooks/:webhookId/rotate-secret', {
  auditAction: 'webhook.rotateSecret',
  body: z.strictObject({
    overlapHours: z.int().min(0).max(overlapHoursMax).default(overlapHoursDefault),
  }),
  response: z.object({ secret }),
  handle: async (call, { tx }) => {
    const { webhooks, clock } = call.services
    const webhook = await requireWebhook(tx, call)
    const { overlapHours } = call.body
    const rotation = { nowMs: clock(), overlapHours }
    const response = { secret: await webhooks.rotateSecret(tx, webhook, rotation) }
    return { response, target: webhook.webhookId, detail: { overlapHours } }
  },
})

export const testWebhook = defineWrite('/webhooks/:webhookId/test', {
  auditAction: 'webhook.test',
  response: z.object({ eventId: z.string() }),
  handle: async (call, { tx }) => {
    const { webhooks, clock } = call.services
    const webhook = await requireWebhook(tx, call)
    const eventId = await webhooks.sendTest(tx, webhook, clock())
    return { response: { eventId }, target: webhook.webhookId, detail: { eventId } }
  },
})

/** @throws HttpError 404 when the account has no webhook with this id. */
export async function requireWebhook(tx: ReadTx, { pathParameters, identity }: AccountPath) {
  const filter = { accountId: identity.accountId, webhookId: pathParameters['webhookId'] ?? '' }
  const [webhook] = await stored.findWebhooks(tx, filter)
  if (!webhook) throw new HttpError(404, 'The account has no webhook with this id.')
  return webhook
}

/** @throws ValidationError if the filter has no effect. */
function toReceivedEvents(body: z.output<typeof receivedEvents>) {
  const events = [...new Set(body.events)]
  if (Object.keys(body.matchFilter).length > 0 && !events.some(isFaceEvent))
    throw invalidField(
      'body.matchFilter',
      'applies only to events about faces, such as identify.matched; add one',
    )
  return { events, matchFilter: body.matchFilter }
}

function toItem({ failingSinceMs, pausedUntilMs, ...webhook }: stored.Webhook, nowMs: number) {
  const failingSinceUtc = failingSinceMs === null ? null : formatUtc(failingSinceMs)
  const pausedUntilUtc = pausedUntilMs > nowMs ? formatUtc(pausedUntilMs) : null
  return { ...webhook, failingSinceUtc, pausedUntilUtc }
}
