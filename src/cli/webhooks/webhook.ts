import { formatUtc } from '../../lib/utc.ts'
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
import { listDeliveries, redeliverEvent, sendTestEvent } from './deliveries.ts'
import { parseWhole } from './parse-whole.ts'

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
    test: sendTestEvent,
    deliveries: listDeliveries,
    redeliver: redeliverEvent,
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
