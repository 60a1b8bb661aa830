import type { Config } from '../../config.ts'
import { openKeyring } from '../../gallery/keys/keyring.ts'
import { deleteInBatches } from '../../store/delete-in-batches.ts'
import { dayMs, hourMs } from '../../lib/clock.ts'
import { splitList } from '../../lib/setting.ts'
import {
  countOutbox,
  deleteOldDeliveries,
  expireDeliveries,
  type OutboxCounts,
} from '../../store/webhooks/deliveries.ts'
import { deleteExpiredSecrets, removeDeletedWebhooks } from '../../store/webhooks/webhooks.ts'
import type { AddressRules } from '../../webhooks/address-rules.ts'
import { createDeliveryLoop } from '../../webhooks/delivery-loop.ts'
import { addCameraNotices, addExpiryNotices } from '../../webhooks/key-notices.ts'
import { pendingMsMax } from '../../webhooks/retry-schedule.ts'
import { createWebhooks } from '../../webhooks/webhooks.ts'
import type { ConsoleServicesOptions } from '../console-services.ts'
import { masterKeyPath } from '../store-location.ts'
import { schedule } from '../schedule.ts'

/** The webhooks and the background jobs that deliver their events. */
export type OpenedWebhooks = ReturnType<typeof openWebhooks>

type WebhookEnvironment = Pick<ConsoleServicesOptions, 'store' | 'clock' | 'log'>

/** Starts the deliveries. The master key must exist: the galleries create it. */
export function openWebhooks(config: Config, environment: WebhookEnvironment) {
  const { log } = environment
  const keyring = openKeyring(masterKeyPath(config))
  const rules = addressRules(config)
  const loop = createDeliveryLoop({
    ...environment,
    keyring,
    rules,
    timeoutMs: config.WEBHOOK_TIMEOUT_MS,
    retry: { firstWaitMs: config.WEBHOOK_RETRY_MS, random: Math.random },
    concurrency: config.WEBHOOK_CONCURRENCY,
  })
  const delivery = { intervalMs: 1000, failure: 'webhook events are not delivered' }
  const sweep = { intervalMs: 60_000, failure: 'the sweep of webhook events failed' }
  const count = { intervalMs: 5000, failure: 'webhook events could not be counted' }
  const compare = { intervalMs: hourMs, failure: 'the cameras were not compared' }
  const compareCameras = (): Promise<void> => {
    const nowMs = environment.clock()
    const outboxMax = config.WEBHOOK_OUTBOX_MAX
    return addCameraNotices({ store: environment.store, nowMs, outboxMax })
  }
  let outbox: OutboxCounts = { pending: 0, discarded: 0, failing: 0 }
  const countPending = async (): Promise<void> => {
    outbox = await environment.store.read(countOutbox)
  }
  const jobs = [
    schedule(loop.run, delivery, log),
    schedule(() => sweepWebhooks(config, environment), sweep, log),
    schedule(countPending, count, log),
    schedule(compareCameras, compare, log),
  ]
  return {
    webhooks: createWebhooks(keyring, rules),
    deliveryCounts: loop.counts,
    /** The counts of the outbox, a few seconds old. */
    outbox: (): OutboxCounts => outbox,
    [Symbol.asyncDispose]: async () => {
      for (const job of jobs) await job[Symbol.asyncDispose]()
      await loop.close()
    },
  }
}

/** The addresses that webhooks may use. */
export function addressRules(
  config: Pick<Config, 'WEBHOOK_ALLOWED_NETWORKS' | 'WEBHOOK_ALLOW_HTTP'>,
): AddressRules {
  return {
    allowedNetworks: splitList(config.WEBHOOK_ALLOWED_NETWORKS),
    isHttpAllowed: config.WEBHOOK_ALLOW_HTTP === 'on',
  }
}

async function sweepWebhooks(config: Config, { store, clock, log }: WebhookEnvironment) {
  const nowMs = clock()
  await addExpiryNotices({ store, nowMs, outboxMax: config.WEBHOOK_OUTBOX_MAX })
  const error = `not delivered within ${pendingMsMax / 3_600_000} hours`
  const given = { beforeMs: nowMs - pendingMsMax, error }
  const expired = await deleteInBatches(store, (tx) => expireDeliveries(tx, given))
  if (expired > 0) log.error({ expired }, 'webhook events were given up')
  await removeDeletedWebhooks(store)
  const beforeMs = nowMs - config.WEBHOOK_RETENTION_DAYS * dayMs
  for (const state of ['delivered', 'failed'] as const)
    await deleteInBatches(store, (tx) => deleteOldDeliveries(tx, { state, beforeMs }))
  await store.write((tx) => deleteExpiredSecrets(tx, nowMs))
}
