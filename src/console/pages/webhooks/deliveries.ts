import { z } from 'zod'
import { HttpError } from '../../../lib/errors.ts'
import { formatUtc } from '../../../lib/clock.ts'
import { allEventTypes, testEventType } from '../../../store/webhooks/event-types.ts'
import {
  findDeliveries,
  findDeliveryData,
  type ListedDelivery,
} from '../../../store/webhooks/deliveries.ts'
import { defineList } from '../../server/define-list.ts'
import { defineRead, defineWrite, type ConsoleContext } from '../../server/console-route.ts'
import { requireWebhook } from './webhooks.ts'

const delivery = z.object({
  eventId: z.string(),
  type: z.string(),
  createdAtUtc: z.string(),
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.number(),
  attemptedAtUtc: z.string().nullable(),
  dueAtUtc: z.string().nullable().meta({ description: 'The next attempt of a pending delivery.' }),
  status: z.number().nullable(),
  error: z.string().nullable(),
})

export const { pages: listWebhookDeliveries } = defineList({
  path: '/webhooks/:webhookId/deliveries',
  filter: z.strictObject({
    state: z.enum(['pending', 'delivered', 'failed']).optional(),
    type: z.enum([...allEventTypes, testEventType]).optional(),
  }),
  item: delivery,
  sortBy: ['created'],
  isDescending: true,
  position: z.object({ createdAtMs: z.number(), eventId: z.string() }),
  find: async (call, { after, limit, sort }) => {
    const deliveries = await call.services.store.read(async (tx) => {
      const { webhookId } = await requireWebhook(tx, call)
      const order = { isAscending: !sort.isDescending, after, limit }
      return findDeliveries(tx, { ...call.query, webhookId, ...order })
    })
    return deliveries.map((item) => ({
      item: toDeliveryItem(item),
      position: { createdAtMs: item.createdAtMs, eventId: item.eventId },
    }))
  },
})

const payload = z.record(z.string(), z.unknown()).meta({ description: 'The data of the event.' })

/** The data of an event, which the list does not contain. */
export const readDelivery = defineRead('/webhooks/:webhookId/deliveries/:eventId', {
  response: z.object({ payload }),
  handle: (call) =>
    call.services.store.read(async (tx) => {
      const { webhookId } = await requireWebhook(tx, call)
      const data = await findDeliveryData(tx, { webhookId, eventId: eventIdOf(call) })
      if (data === undefined) throw noSuchEvent()
      return { payload: JSON.parse(data) as z.output<typeof payload> }
    }),
})

const eventIdOf = (call: ConsoleContext) => call.pathParameters['eventId'] ?? ''
const noSuchEvent = () => new HttpError(404, 'The webhook has no event with this id.')

export const redeliverEvent = defineWrite('/webhooks/:webhookId/deliveries/:eventId/redeliver', {
  auditAction: 'webhook.redeliver',
  handle: async (call, { tx }) => {
    const { webhooks, clock } = call.services
    const { webhookId } = await requireWebhook(tx, call)
    const eventId = eventIdOf(call)
    if (!(await webhooks.redeliver(tx, { webhookId, eventId }, clock()))) throw noSuchEvent()
    return { response: undefined, target: webhookId, detail: { eventId } }
  },
})

function toDeliveryItem(delivery: ListedDelivery) {
  const { createdAtMs, attemptedAtMs, dueAtMs, state, attempts } = delivery
  const isWaiting = state === 'pending' && attempts > 0
  return {
    ...delivery,
    createdAtUtc: formatUtc(createdAtMs),
    attemptedAtUtc: attemptedAtMs === null ? null : formatUtc(attemptedAtMs),
    dueAtUtc: isWaiting ? formatUtc(dueAtMs) : null,
  }
}
