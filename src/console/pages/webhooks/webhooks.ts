import { z } from 'zod'
import { groupName } from '../../../actions/schemas/fields.ts'
import { HttpError } from '../../../lib/errors.ts'
import {
  allEventTypes,
  defaultEventTypes,
  webhookEventTypes,
} from '../../../store/webhooks/event-types.ts'
import { matchOutcomes } from '../../../store/webhooks/events.ts'
import {
  deleteWebhook,
  findWebhooks,
  webhooksPerProjectMax,
  type Webhook,
} from '../../../store/webhooks/webhooks.ts'
import type { ReadTx } from '../../../store/tx.ts'
import { withoutPath } from '../../../webhooks/address-rules.ts'
import { formatUtc } from '../../../lib/clock.ts'
import { overlapHoursDefault, overlapHoursMax } from '../../../lib/limits/webhook-limits.ts'
import { isAllowed } from '../../auth/identity.ts'
import { defineRead, defineWrite, type ConsoleContext } from '../../server/console-route.ts'
import { requireProject } from '../../server/require-project.ts'
import { id } from '../../server/field-schemas.ts'
import { invalidField } from '../../server/validation-error.ts'

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
  url: z.string().meta({ description: 'For viewers without its path, which can contain a token.' }),
  events: z.array(eventType),
  matchFilter,
  createdAtUtc: z.string(),
  pending: z.number(),
  discarded: z.number().meta({ description: 'Events not stored because the outbox was full.' }),
  failures: z.number().meta({ description: 'Consecutive failed attempts.' }),
  failingSinceUtc: z.string().nullable(),
})

const secret = z
  .string()
  .meta({ description: 'The signing secret. It is shown only in this response.' })

export const listWebhooks = defineRead({
  path: '/webhooks',
  minimumRole: 'viewer',
  query: z.strictObject({ projectId: id.optional() }),
  response: z.object({
    items: z.array(webhookItem),
    eventTypes: z.array(z.object({ type: eventType, summary: z.string(), isDefault: z.boolean() })),
    webhooksPerProjectMax: z.number(),
  }),
  handle: async ({ query, identity, services: { store } }) => {
    const filter = { ...query, accountId: identity.accountId }
    const webhooks = await store.read((tx) => findWebhooks(tx, filter))
    const eventTypes = allEventTypes.map((type) => ({
      type,
      summary: webhookEventTypes[type],
      isDefault: defaultEventTypes.includes(type),
    }))
    const isManager = isAllowed(identity.role, 'admin')
    const items = webhooks.map((webhook) => ({
      ...toItem(webhook),
      url: isManager ? webhook.url : withoutPath(webhook.url),
    }))
    return { items, eventTypes, webhooksPerProjectMax }
  },
})

export const addWebhook = defineWrite({
  method: 'POST',
  path: '/webhooks',
  minimumRole: 'admin',
  auditAction: 'webhook.create',
  body: z.strictObject({
    projectId: id,
    url: z.string().min(1),
    events: z.array(eventType).min(1),
    matchFilter: matchFilter.default({}).meta({
      description:
        'Only matches of subjects in one of the groups, with one of the outcomes and at least this similarity. Needs the event identify.matched.',
    }),
  }),
  response: webhookItem.extend({ secret }),
  handle: async ({ body, identity, services: { webhooks, clock } }, { tx }) => {
    const pathParameters = { projectId: body.projectId }
    const { projectId } = await requireProject(tx, { pathParameters, identity })
    const problem = webhooks.findUrlProblem(body.url)
    if (problem !== undefined) throw invalidField('body.url', problem)
    const events = [...new Set(body.events)]
    if (Object.keys(body.matchFilter).length > 0 && !events.includes('identify.matched'))
      throw invalidField('body.matchFilter', 'applies only to the event identify.matched; add it')
    const settings = { projectId, url: body.url, events, matchFilter: body.matchFilter }
    const created = await webhooks.create(tx, settings, clock())
    if (!created)
      throw new HttpError(409, `A project has at most ${webhooksPerProjectMax} webhooks.`)
    const { webhookId } = created
    const webhook = await requireWebhook(tx, { pathParameters: { webhookId }, identity })
    const response = { ...toItem(webhook), secret: created.secret }
    const detail = { ...settings, url: withoutPath(settings.url) }
    return { response, target: webhookId, detail }
  },
})

export const removeWebhook = defineWrite({
  method: 'DELETE',
  path: '/webhooks/:webhookId',
  minimumRole: 'admin',
  auditAction: 'webhook.delete',
  handle: async (call, { tx }) => {
    const webhook = await requireWebhook(tx, call)
    const { webhookId, projectId, url } = webhook
    await deleteWebhook(tx, webhook)
    const detail = { projectId, url: withoutPath(url) }
    return { response: undefined, target: webhookId, detail }
  },
})

export const rotateWebhookSecret = defineWrite({
  method: 'POST',
  path: '/webhooks/:webhookId/rotate-secret',
  minimumRole: 'admin',
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

export const testWebhook = defineWrite({
  method: 'POST',
  path: '/webhooks/:webhookId/test',
  minimumRole: 'admin',
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
export async function requireWebhook(
  tx: ReadTx,
  { pathParameters, identity }: Pick<ConsoleContext, 'pathParameters' | 'identity'>,
): Promise<Webhook> {
  const filter = { accountId: identity.accountId, webhookId: pathParameters['webhookId'] ?? '' }
  const [webhook] = await findWebhooks(tx, filter)
  if (!webhook) throw new HttpError(404, 'The account has no webhook with this id.')
  return webhook
}

function toItem({ failingSinceMs, pausedUntilMs: _pausedUntilMs, ...webhook }: Webhook) {
  const failingSinceUtc = failingSinceMs === null ? null : formatUtc(failingSinceMs)
  return { ...webhook, failingSinceUtc }
}
