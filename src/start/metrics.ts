import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Gate } from '../gate/gate.ts'
import { runAsAllAccounts } from '../lib/account-context.ts'
import type { MetricSource, MetricSample } from '../http/metrics/metrics.ts'
import type { OpenedGallery } from './open-gallery.ts'
import type { Store } from '../store/database.ts'
import type { VisionPool } from '../vision/workers/vision-pool.ts'

/** The parts of the service that keep figures of their own. */
export type MetricSources = {
  readonly version: string
  readonly config: Config
  readonly store: Pick<Store, 'db' | 'connectionCounts'>
  readonly gate: Pick<Gate, 'stats'>
  readonly vision: Pick<VisionPool, 'stats'>
  readonly gallerySearch: Pick<OpenedGallery, 'searchStats'>
  /** Why calls cannot be answered now. */
  readonly notReady: () => Promise<readonly string[]>
}

/** What the metrics show besides the calls: the state of this process and what it works with. */
export function serviceMetrics(sources: MetricSources): MetricSource[] {
  return [
    ...healthMetrics(sources),
    ...databaseMetrics(sources),
    ...gateMetrics(sources),
    ...visionMetrics(sources),
    ...searchMetrics(sources),
  ]
}

function healthMetrics({ version, config, notReady }: MetricSources): MetricSource[] {
  const { version: node } = process
  const store = config.DATABASE_URL === '' ? 'sqlite' : 'postgresql'
  return [
    {
      name: 'facegate_build_info',
      help: 'Always 1; its labels tell which program this is.',
      kind: 'gauge',
      labels: ['version', 'node', 'store'],
      read: () => [{ labels: { version, node, store }, value: 1 }],
    },
    singleValueMetric('gauge', 'facegate_ready', 'Whether calls can be answered now: 1 or 0.', () =>
      toBooleanValue(notReady().then((reasons) => reasons.length === 0)),
    ),
    singleValueMetric(
      'gauge',
      'facegate_disk_free_bytes',
      'Free space of the data folder.',
      async () => {
        // A folder that is gone has no room either.
        const none = { bavail: 0, bsize: 0 }
        const { bavail, bsize } = await statfs(config.DATA_DIR).catch(() => none)
        return bavail * bsize
      },
    ),
  ]
}

function databaseMetrics({
  store: { db, connectionCounts: connections },
}: MetricSources): MetricSource[] {
  const accounts = db.selectFrom('accounts').select('accountId').limit(1)
  const ask = () => runAsAllAccounts(() => accounts.execute())
  return [
    singleValueMetric(
      'gauge',
      'facegate_database_up',
      'Whether the database answers: 1 or 0.',
      () => toBooleanValue(ask().then(() => true)),
    ),
    {
      name: 'facegate_database_connections',
      help: 'Connections to the database, by state; of an embedded database there are none to tell.',
      kind: 'gauge',
      labels: ['state'],
      read: () => samplesByLabel('state', Object.entries(connections?.() ?? {})),
    },
  ]
}

function gateMetrics({ gate }: MetricSources): MetricSource[] {
  return [
    {
      name: 'facegate_rejected_calls_total',
      help: 'Calls that the gate turned away, by code.',
      kind: 'counter',
      labels: ['code'],
      read: () => samplesByLabel('code', gate.stats().rejected),
    },
    {
      name: 'facegate_charged_micros_total',
      help: 'Money charged by this process, millionths of the currency; the ledger is the truth.',
      kind: 'counter',
      labels: ['action'],
      read: () =>
        samplesByLabel(
          'action',
          [...gate.stats().chargedMicros].map(([action, micros]) => [action, Number(micros)]),
        ),
    },
    singleValueMetric(
      'counter',
      'facegate_idempotent_replays_total',
      'Retries that got the first answer again.',
      () => gate.stats().replayedCount,
    ),
    singleValueMetric(
      'gauge',
      'facegate_in_flight_duplicates',
      'Retries that wait for their first attempt.',
      () => gate.stats().duplicatesWaiting,
    ),
    singleValueMetric(
      'counter',
      'facegate_in_flight_waits_total',
      'Waits of retries for their first attempt.',
      () => gate.stats().duplicateWaits,
    ),
    singleValueMetric(
      'gauge',
      'facegate_sweep_lag_seconds',
      'Time since overdue calls were last given up with success; 5 s is usual.',
      () => gate.stats().sweepLagMs / 1000,
    ),
  ]
}

function visionMetrics({ config, vision }: MetricSources): MetricSource[] {
  const queueMax = config.VISION_QUEUE_PER_WORKER_MAX * config.VISION_WORKERS
  return [
    {
      name: 'facegate_vision',
      help: 'State of the vision workers and their queue.',
      kind: 'gauge',
      labels: ['figure'],
      read: () => samplesByLabel('figure', Object.entries(vision.stats())),
    },
    singleValueMetric(
      'gauge',
      'facegate_vision_queue_capacity',
      'Pictures that may wait at most.',
      () => queueMax,
    ),
  ]
}

function searchMetrics({ gallerySearch: { searchStats } }: MetricSources): MetricSource[] {
  return [
    singleValueMetric(
      'gauge',
      'facegate_search_galleries',
      'Galleries held in memory for the search.',
      () => searchStats().galleries,
    ),
    singleValueMetric(
      'gauge',
      'facegate_search_templates',
      'Templates held in memory for the search.',
      () => searchStats().rows,
    ),
    singleValueMetric(
      'gauge',
      'facegate_search_bytes',
      'Memory that these templates take.',
      () => searchStats().bytes,
    ),
  ]
}

/** A figure of one value. */
function singleValueMetric(
  kind: MetricSource['kind'],
  name: string,
  help: string,
  value: () => number | Promise<number>,
): MetricSource {
  return { kind, name, help, labels: [], read: async () => [{ labels: {}, value: await value() }] }
}

function samplesByLabel(
  label: string,
  values: Iterable<readonly [string, number]>,
): MetricSample[] {
  return [...values].map(([key, value]) => ({ labels: { [label]: key }, value }))
}

/** A database that hangs must not hang whoever asks how it is. */
const healthMsMax = 2000

async function toBooleanValue(answer: Promise<boolean>): Promise<number> {
  const late = new AbortController()
  const { signal } = late
  const deadline = sleep(healthMsMax, false, { signal }).catch(() => false)
  const isFine = await Promise.race([answer.catch(() => false), deadline])
  late.abort()
  return isFine ? 1 : 0
}
