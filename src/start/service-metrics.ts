import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { BodyBudget } from '../http/input/incoming-body.ts'
import type { Gate } from '../gate/gate.ts'
import { runAsAllAccounts } from '../lib/account-context.ts'
import type { ConnectionStats } from '../http/connections/connection-stats.ts'
import type { MetricSource, MetricSample } from '../http/metrics/metrics.ts'
import type { OpenedGallery } from './open-gallery.ts'
import type { OpenedWebhooks } from './webhooks/open-webhooks.ts'
import type { Store } from '../store/database.ts'
import type { VisionPool } from '../vision/workers/vision-pool.ts'
import described from './service-metrics.json' with { type: 'json' }

/** The parts of the service that the metrics are read from. */
export type MetricSources = {
  readonly version: string
  readonly config: Config
  readonly store: Pick<Store, 'db' | 'connectionCounts'>
  readonly gate: Pick<Gate, 'stats'>
  readonly vision: Pick<VisionPool, 'stats'>
  readonly bodyBudget: Pick<BodyBudget, 'stats'>
  readonly gallerySearch: Pick<OpenedGallery, 'searchStats'>
  readonly openedWebhooks: Pick<OpenedWebhooks, 'deliveryCounts' | 'outbox'>
  /** Returns the reasons why calls cannot be served now. */
  readonly notReady: () => Promise<readonly string[]>
  readonly connectionStats: Pick<ConnectionStats, 'read'>
}

type MetricName = keyof (typeof described.gauges & typeof described.counters)

/** Returns the value of a metric without labels, or the samples of one with labels. */
type ReadMetric = () => Reading | Promise<Reading>
type Reading = number | readonly MetricSample[]

/**
 * The metrics of the state of this process; the metrics of calls are counted elsewhere.
 * `service-metrics.json` describes them.
 */
export function serviceMetrics(sources: MetricSources): MetricSource[] {
  const reads: Readonly<Record<MetricName, ReadMetric>> = {
    ...healthReads(sources),
    ...databaseReads(sources),
    ...gateReads(sources),
    ...visionReads(sources),
    ...webhookReads(sources),
  }
  const descriptions = { ...described.gauges, ...described.counters }
  return Object.entries(reads).map(([name, read]) => ({
    name,
    // The names of the entries are those of the record.
    ...descriptions[name as MetricName],
    kind: name in described.counters ? 'counter' : 'gauge',
    read: async () => {
      const reading = await read()
      return typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading
    },
  }))
}

function healthReads({ version, config, notReady, connectionStats }: MetricSources) {
  const { version: node } = process
  const store = config.DATABASE_URL === '' ? 'sqlite' : 'postgresql'
  return {
    facegate_build_info: () => [{ labels: { version, node, store }, value: 1 }],
    facegate_ready: () => toBooleanValue(notReady().then((reasons) => reasons.length === 0)),
    facegate_disk_free_bytes: async () => {
      // A missing folder has no free space.
      const noSpace = { bavail: 0, bsize: 0 }
      const { bavail, bsize } = await statfs(config.DATA_DIR).catch(() => noSpace)
      return bavail * bsize
    },
    facegate_connections: () => connectionStats.read().open,
    facegate_closed_connections_total: () => samplesByLabel('limit', connectionStats.read().closed),
  }
}

function databaseReads({ store: { db, connectionCounts } }: MetricSources) {
  const query = () =>
    runAsAllAccounts(() => db.selectFrom('accounts').select('accountId').limit(1).execute())
  return {
    facegate_database_up: () => toBooleanValue(query().then(() => true)),
    facegate_database_connections: () =>
      samplesByLabel('state', Object.entries(connectionCounts?.() ?? {})),
  }
}

function gateReads({ gate, bodyBudget }: MetricSources) {
  return {
    facegate_rejected_calls_total: () => samplesByLabel('code', gate.stats().rejected),
    facegate_charged_micros_total: () => {
      const charged = [...gate.stats().chargedMicros]
      return samplesByLabel(
        'action',
        charged.map(([action, micros]) => [action, Number(micros)]),
      )
    },
    facegate_idempotent_replays_total: () => gate.stats().replayedCount,
    facegate_in_flight_duplicates: () => gate.stats().duplicatesWaiting,
    facegate_in_flight_waits_total: () => gate.stats().duplicateWaits,
    facegate_sweep_lag_seconds: () => gate.stats().sweepLagMs / 1000,
    facegate_request_body_bytes: () => bodyBudget.stats().reservedBytes,
    facegate_request_bodies_rejected_total: () => bodyBudget.stats().rejectedCount,
  }
}

function visionReads({ config, vision, gallerySearch: { searchStats } }: MetricSources) {
  return {
    facegate_vision_workers: () => vision.stats().workersUp,
    facegate_vision_workers_busy: () => vision.stats().workersBusy,
    facegate_vision_queue_depth: () => vision.stats().queued,
    facegate_vision_queue_bytes: () => vision.stats().queuedBytes,
    facegate_vision_worker_restarts_total: () => vision.stats().respawns,
    facegate_vision_worker_recycles_total: () => vision.stats().recycled,
    facegate_vision_quarantined_images_total: () => vision.stats().quarantined,
    facegate_vision_queue_capacity: () =>
      config.VISION_QUEUE_PER_WORKER_MAX * config.VISION_WORKERS,
    facegate_search_galleries: () => searchStats().galleries,
    facegate_search_templates: () => searchStats().rows,
    facegate_search_bytes: () => searchStats().bytes,
  }
}

/** The deliveries of this process, and the state of the outbox that all servers share. */
function webhookReads({ openedWebhooks: opened }: MetricSources) {
  return {
    facegate_webhook_attempts_total: () =>
      samplesByLabel('outcome', Object.entries(opened.deliveryCounts())),
    facegate_webhook_pending_deliveries: () => opened.outbox().pending,
    facegate_webhooks_failing: () => opened.outbox().failing,
    facegate_webhook_discarded_events: () => opened.outbox().discarded,
  }
}

function samplesByLabel(label: string, values: Iterable<readonly [string, number]>) {
  return [...values].map(([key, value]) => ({ labels: { [label]: key }, value }))
}

/** A database that does not respond must not block the metrics. */
const healthMsMax = 2000

async function toBooleanValue(check: Promise<boolean>): Promise<number> {
  const timer = new AbortController()
  const timeout = sleep(healthMsMax, false, { signal: timer.signal }).catch(() => false)
  const isTrue = await Promise.race([check.catch(() => false), timeout])
  timer.abort()
  return isTrue ? 1 : 0
}
