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

/** The metrics of the state of this process; the metrics of calls are counted elsewhere. */
export function serviceMetrics(sources: MetricSources): MetricSource[] {
  return [
    ...healthMetrics(sources),
    ...connectionMetrics(sources),
    ...databaseMetrics(sources),
    ...gateMetrics(sources),
    ...bodyMetrics(sources),
    ...visionMetrics(sources),
    ...searchMetrics(sources),
    ...webhookMetrics(sources),
  ]
}

function healthMetrics({ version, config, notReady }: MetricSources): MetricSource[] {
  const { version: node } = process
  const store = config.DATABASE_URL === '' ? 'sqlite' : 'postgresql'
  return [
    {
      name: 'facegate_build_info',
      help: 'Always 1; the labels identify the running program.',
      kind: 'gauge',
      labels: ['version', 'node', 'store'],
      read: () => [{ labels: { version, node, store }, value: 1 }],
    },
    singleValueMetric('gauge', 'facegate_ready', 'Whether calls can be served now: 1 or 0.', () =>
      toBooleanValue(notReady().then((reasons) => reasons.length === 0)),
    ),
    singleValueMetric(
      'gauge',
      'facegate_disk_free_bytes',
      'Free space of the data folder.',
      async () => {
        // A missing folder has no free space.
        const noSpace = { bavail: 0, bsize: 0 }
        const { bavail, bsize } = await statfs(config.DATA_DIR).catch(() => noSpace)
        return bavail * bsize
      },
    ),
  ]
}

function connectionMetrics({ connectionStats }: MetricSources): MetricSource[] {
  return [
    singleValueMetric(
      'gauge',
      'facegate_connections',
      'Open client connections.',
      () => connectionStats.read().open,
    ),
    {
      name: 'facegate_closed_connections_total',
      help: 'Client connections that a limit closed, by limit.',
      kind: 'counter',
      labels: ['limit'],
      read: () => samplesByLabel('limit', connectionStats.read().closed),
    },
  ]
}

function databaseMetrics({ store: { db, connectionCounts } }: MetricSources): MetricSource[] {
  const query = () =>
    runAsAllAccounts(() => db.selectFrom('accounts').select('accountId').limit(1).execute())
  return [
    singleValueMetric(
      'gauge',
      'facegate_database_up',
      'Whether the database responds: 1 or 0.',
      () => toBooleanValue(query().then(() => true)),
    ),
    {
      name: 'facegate_database_connections',
      help: 'Connections to the database, by state; none for an embedded database.',
      kind: 'gauge',
      labels: ['state'],
      read: () => samplesByLabel('state', Object.entries(connectionCounts?.() ?? {})),
    },
  ]
}

function gateMetrics({ gate }: MetricSources): MetricSource[] {
  return [
    {
      name: 'facegate_rejected_calls_total',
      help: 'Calls rejected by the gate, by code.',
      kind: 'counter',
      labels: ['code'],
      read: () => samplesByLabel('code', gate.stats().rejected),
    },
    {
      name: 'facegate_charged_micros_total',
      help: 'Amount charged by this process, millionths of the currency; only the ledger is authoritative.',
      kind: 'counter',
      labels: ['action'],
      read: () =>
        samplesByLabel(
          'action',
          [...gate.stats().chargedMicros].map(([action, micros]) => [action, Number(micros)]),
        ),
    },
    ...countMetrics(() => gate.stats(), {
      replayedCount: [
        'counter',
        'facegate_idempotent_replays_total',
        'Retries that received the stored response of the first call.',
      ],
      duplicatesWaiting: [
        'gauge',
        'facegate_in_flight_duplicates',
        'Retries that wait for a first call in flight.',
      ],
      duplicateWaits: [
        'counter',
        'facegate_in_flight_waits_total',
        'Times that a retry waited for a first call in flight.',
      ],
    }),
    singleValueMetric(
      'gauge',
      'facegate_sweep_lag_seconds',
      'Time since the last successful sweep of expired calls; 5 s is normal.',
      () => gate.stats().sweepLagMs / 1000,
    ),
  ]
}

function bodyMetrics({ bodyBudget }: MetricSources): MetricSource[] {
  return countMetrics(() => bodyBudget.stats(), {
    reservedBytes: [
      'gauge',
      'facegate_request_body_bytes',
      'Size of the request bodies that are received or processed.',
    ],
    rejectedCount: [
      'counter',
      'facegate_request_bodies_rejected_total',
      'Requests rejected because the request bodies exceeded their maximum size together.',
    ],
  })
}

function visionMetrics({ config, vision }: MetricSources): MetricSource[] {
  const queueMax = config.VISION_QUEUE_PER_WORKER_MAX * config.VISION_WORKERS
  return countMetrics(() => ({ ...vision.stats(), queueMax }), {
    workersUp: ['gauge', 'facegate_vision_workers', 'Vision workers that are running.'],
    workersBusy: ['gauge', 'facegate_vision_workers_busy', 'Vision workers that process an image.'],
    queued: ['gauge', 'facegate_vision_queue_depth', 'Images that wait for a vision worker.'],
    queuedBytes: ['gauge', 'facegate_vision_queue_bytes', 'Size of the waiting images, as base64.'],
    respawns: [
      'counter',
      'facegate_vision_worker_restarts_total',
      'Vision workers that were lost and replaced.',
    ],
    recycled: [
      'counter',
      'facegate_vision_worker_recycles_total',
      'Vision workers replaced because of their age or memory.',
    ],
    quarantined: [
      'counter',
      'facegate_vision_quarantined_images_total',
      'Calls rejected because their image, or images of its kind and key, had crashed workers.',
    ],
    queueMax: ['gauge', 'facegate_vision_queue_capacity', 'Maximum number of waiting images.'],
  })
}

function searchMetrics({ gallerySearch: { searchStats } }: MetricSources): MetricSource[] {
  return countMetrics(searchStats, {
    galleries: ['gauge', 'facegate_search_galleries', 'Galleries in the memory of the search.'],
    rows: ['gauge', 'facegate_search_templates', 'Templates in the memory of the search.'],
    bytes: ['gauge', 'facegate_search_bytes', 'Memory used by these templates.'],
  })
}

/** The deliveries of this process, and the state of the outbox that all servers share. */
function webhookMetrics({ openedWebhooks: opened }: MetricSources): MetricSource[] {
  return [
    {
      name: 'facegate_webhook_attempts_total',
      help: 'Attempts of this process to deliver a webhook event, by outcome.',
      kind: 'counter',
      labels: ['outcome'],
      read: () => samplesByLabel('outcome', Object.entries(opened.deliveryCounts())),
    },
    ...countMetrics(() => opened.outbox(), {
      pending: [
        'gauge',
        'facegate_webhook_pending_deliveries',
        'Webhook events of all servers that wait for their delivery.',
      ],
      failing: ['gauge', 'facegate_webhooks_failing', 'Webhooks whose last attempt failed.'],
      discarded: [
        'gauge',
        'facegate_webhook_discarded_events',
        'Events that existing webhooks did not receive because their outbox was full.',
      ],
    }),
  ]
}

type CountMetric = readonly [kind: MetricSource['kind'], name: string, help: string]

/** The metrics without labels whose values are the numbers of one record. */
function countMetrics<Count extends string>(
  read: () => Readonly<Record<NoInfer<Count>, number>>,
  metrics: Readonly<Record<Count, CountMetric>>,
): MetricSource[] {
  return Object.entries<CountMetric>(metrics).map(([count, metric]) =>
    // The names of the entries are those of the record.
    singleValueMetric(...metric, () => read()[count as Count]),
  )
}

/** A metric with one value and no labels. */
function singleValueMetric(
  kind: MetricSource['kind'],
  name: string,
  help: string,
  read: () => number | Promise<number>,
): MetricSource {
  return { kind, name, help, labels: [], read: async () => [{ labels: {}, value: await read() }] }
}

function samplesByLabel(
  label: string,
  values: Iterable<readonly [string, number]>,
): MetricSample[] {
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
