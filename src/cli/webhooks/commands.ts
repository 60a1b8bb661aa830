import { overlapHoursDefault, overlapHoursMax } from '../../lib/limits/webhook-limits.ts'
import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import {
  anyText,
  namesFrom,
  oneOf,
  share,
  textList,
  wholeNumber,
} from '../command-line/value-kinds.ts'
import { optional, required, withDefault, optionalProject, requiredProject } from '../options.ts'

const webhookId = required('<webhookId>', anyText, 'id of the webhook, as in facegate webhook list')
const eventNames = async (): Promise<readonly string[]> => [
  'all',
  ...(await import('../../store/webhooks/event-types.ts')).allEventTypes,
]

export const webhook = defineGroup('webhook', [
  defineCommand('webhook create', {
    options: {
      project: requiredProject,
      url: required('<https://…>', anyText),
      events: optional('<a,b>', namesFrom(eventNames)),
      groups: optional('<a,b>', textList),
      outcomes: optional('<a,b>', namesFrom(['match', 'ambiguous'])),
      'min-similarity': optional('<0..1>', share),
    },
    run: async (values) => (await import('./webhook.ts')).create(values),
  }),
  defineCommand('webhook list', {
    options: { project: optionalProject },
    run: async (values) => (await import('./webhook.ts')).list(values),
  }),
  defineCommand('webhook delete', {
    arguments: { webhookId },
    run: async (values) => (await import('./webhook.ts')).remove(values),
  }),
  defineCommand('webhook test', {
    arguments: { webhookId },
    run: async (values) => (await import('./webhook.ts')).sendTestEvent(values),
  }),
  defineCommand('webhook deliveries', {
    arguments: { webhookId },
    options: {
      state: optional('<state>', oneOf(['pending', 'delivered', 'failed'])),
      limit: withDefault('<n>', wholeNumber(1, 1000), '20'),
    },
    run: async (values) => (await import('./webhook.ts')).listDeliveries(values),
  }),
  defineCommand('webhook redeliver', {
    arguments: {
      webhookId,
      eventId: required('<eventId>', anyText),
    },
    run: async (values) => (await import('./webhook.ts')).redeliverEvent(values),
  }),
  defineCommand('webhook rotate-secret', {
    arguments: { webhookId },
    options: {
      'overlap-hours': withDefault(
        '<n>',
        wholeNumber(0, overlapHoursMax),
        String(overlapHoursDefault),
      ),
    },
    run: async (values) => (await import('./webhook.ts')).rotateSecret(values),
  }),
])
