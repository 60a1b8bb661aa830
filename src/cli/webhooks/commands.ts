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

const webhookId = required('<webhookId>', 'id of the webhook, as in facegate webhook list', anyText)
const eventNames = async (): Promise<readonly string[]> => [
  'all',
  ...(await import('../../store/webhooks/event-types.ts')).allEventTypes,
]

export const webhook = defineGroup({
  name: 'webhook',
  summary: 'send events of a project to an address',
  description: 'docs/reference/webhooks.md describes the events and their signature.',
  commands: [
    defineCommand({
      name: 'create',
      summary: 'create a webhook; its signing secret is shown only once',
      options: {
        project: requiredProject,
        url: required('<https://…>', 'the address that receives the events', anyText),
        events: optional(
          '<a,b>',
          'events, separated by commas, or all; without the option, all but identify.matched',
          namesFrom(eventNames),
        ),
        groups: optional(
          '<a,b>',
          'only matches of subjects in one of these groups, separated by commas',
          textList,
        ),
        outcomes: optional(
          '<a,b>',
          'only matches with these outcomes, separated by commas: match, ambiguous',
          namesFrom(['match', 'ambiguous']),
        ),
        'min-similarity': optional('<0..1>', 'only matches with at least this similarity', share),
      },
      run: async (values) => (await import('./webhook.ts')).create(values),
    }),
    defineCommand({
      name: 'list',
      summary: 'list webhooks with the number of pending and discarded events',
      options: { project: optionalProject },
      run: async (values) => (await import('./webhook.ts')).list(values),
    }),
    defineCommand({
      name: 'delete',
      summary: 'delete a webhook and its pending events',
      arguments: { webhookId },
      run: async (values) => (await import('./webhook.ts')).remove(values),
    }),
    defineCommand({
      name: 'test',
      summary: 'send a test event; a running server sends it, the command waits up to 15 seconds',
      arguments: { webhookId },
      run: async (values) => (await import('./webhook.ts')).sendTestEvent(values),
    }),
    defineCommand({
      name: 'deliveries',
      summary: 'list the events of a webhook, the newest first',
      arguments: { webhookId },
      options: {
        state: optional(
          '<state>',
          'only events in this state: pending, delivered or failed',
          oneOf(['pending', 'delivered', 'failed']),
        ),
        limit: withDefault('<n>', 'number of events', { ...wholeNumber(1, 1000), default: '20' }),
      },
      run: async (values) => (await import('./webhook.ts')).listDeliveries(values),
    }),
    defineCommand({
      name: 'redeliver',
      summary: 'send an event again',
      arguments: {
        webhookId,
        eventId: required('<eventId>', 'id of the event, as in webhook deliveries', anyText),
      },
      run: async (values) => (await import('./webhook.ts')).redeliverEvent(values),
    }),
    defineCommand({
      name: 'rotate-secret',
      summary: 'create a new signing secret; it is shown only once',
      arguments: { webhookId },
      options: {
        'overlap-hours': withDefault(
          '<n>',
          'hours in which events are also signed with the earlier secret',
          { ...wholeNumber(0, overlapHoursMax), default: String(overlapHoursDefault) },
        ),
      },
      run: async (values) => (await import('./webhook.ts')).rotateSecret(values),
    }),
  ],
})
