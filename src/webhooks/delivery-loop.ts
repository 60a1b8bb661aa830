import { claimDeliveries, findDueWebhooks } from '../store/webhooks/deliveries.ts'
import { createLookups } from './address-rules.ts'
import { deliver, type DeliverOptions, type DeliveryOutcome } from './deliver.ts'

export type DeliveryLoopOptions = DeliverOptions & {
  /** Webhooks that are served at the same time, without one of each further account. */
  readonly concurrency: number
}

type DueWebhook = Awaited<ReturnType<typeof findDueWebhooks>>[number]

export type DeliveryCounts = Readonly<Record<Exclude<DeliveryOutcome, 'released'>, number>>

/** Events of one webhook that are sent at the same time. */
const batchSize = 4

/** One webhook of each further account is served beyond the concurrency, up to this multiple of it. */
const busyFactorMax = 8

/** Batches of one webhook before other webhooks are served, unless slow responses end its turn. */
const batchesMax = 25

/** Sends pending events. Several servers can do so on one database. */
export function createDeliveryLoop(options: DeliveryLoopOptions) {
  const { store, clock, concurrency, log } = options
  const closing = new AbortController()
  const busy = new Map<string, { readonly accountId: string; readonly served: Promise<void> }>()
  // Slow receivers of some accounts must not delay the events of others.
  const perAccount = Math.ceil(concurrency / 2)
  const busyMax = concurrency * busyFactorMax
  const counts = { delivered: 0, retried: 0, failed: 0 }
  const createLookup = createLookups(options.rules, perAccount * batchSize)

  const start = ({ webhookId, accountId }: DueWebhook): void => {
    const served = serve({ webhookId, accountId })
      .catch((error: unknown) => log.error({ err: error, webhookId }, 'a webhook was not served'))
      .finally(() => busy.delete(webhookId))
    busy.set(webhookId, { accountId, served })
  }

  const canStart = ({ webhookId, accountId }: DueWebhook): boolean => {
    const { length } = [...busy.values()].filter((one) => one.accountId === accountId)
    if (busy.has(webhookId) || length >= perAccount) return false
    return busy.size < (length === 0 ? busyMax : concurrency)
  }

  const serve = async ({ webhookId, accountId }: DueWebhook): Promise<void> => {
    const endMs = performance.now() + options.timeoutMs
    const sending = { ...options, signal: closing.signal, accountId, createLookup }
    for (let batch = 0; batch < batchesMax && performance.now() < endMs; batch++) {
      if (closing.signal.aborted) return
      const nowMs = clock()
      const leaseUntilMs = nowMs + options.timeoutMs + leaseMarginMs
      const claim = { webhookId, nowMs, leaseUntilMs, limit: batchSize }
      const claimed = await store.write((tx) => claimDeliveries(tx, claim))
      if (claimed.length === 0) return
      const deliveries = claimed.map((one) => deliver(one, sending))
      for (const result of await Promise.allSettled(deliveries)) {
        if (result.status === 'rejected') throw result.reason
        if (result.value !== 'released') counts[result.value] += 1
      }
    }
  }

  return {
    /** Starts the deliveries that are due and returns without waiting for their responses. */
    run: async () => {
      if (busy.size >= busyMax || closing.signal.aborted) return
      const filter = { nowMs: clock(), limit: concurrency + busy.size }
      const due = await store.read((tx) => findDueWebhooks(tx, filter))
      for (const webhook of due) if (canStart(webhook)) start(webhook)
    },
    /** The attempts of this process by their outcome. */
    counts: (): DeliveryCounts => ({ ...counts }),
    /** Ends running requests and gives their events back. */
    close: async () => {
      closing.abort()
      await Promise.all([...busy.values()].map(({ served }) => served))
    },
  }
}

/**
 * After its lease, another server may send an event again. A lease is longer than a request and the
 * transactions around it, so this only happens if the server was stopped in between.
 */
const leaseMarginMs = 50_000
