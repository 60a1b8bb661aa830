import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from './config.ts'
import type { Gate } from './gate/gate.ts'
import type { Figure, FigureValue } from './http/metrics.ts'
import type { Memory } from './memory.ts'
import type { Store } from './store/database.ts'
import type { VisionPool } from './vision/workers/pool.ts'

/** The parts of the service that keep figures of their own. */
export type FigureSources = {
  readonly version: string
  readonly config: Config
  readonly store: Pick<Store, 'db' | 'connections'>
  readonly gate: Pick<Gate, 'stats'>
  readonly vision: Pick<VisionPool, 'stats'>
  readonly memory: Pick<Memory, 'searchStats'>
  /** Why calls cannot be answered now. */
  readonly notReady: () => Promise<readonly string[]>
}

/** What the metrics show besides the calls: the state of this process and what it works with. */
export function figuresOf(sources: FigureSources): Figure[] {
  return [
    ...healthFigures(sources),
    ...databaseFigures(sources),
    ...gateFigures(sources),
    ...visionFigures(sources),
    ...searchFigures(sources),
  ]
}

function healthFigures({ version, config, notReady }: FigureSources): Figure[] {
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
    one('gauge', 'facegate_ready', 'Whether calls can be answered now: 1 or 0.', () =>
      isTrue(notReady().then((reasons) => reasons.length === 0)),
    ),
    one('gauge', 'facegate_disk_free_bytes', 'Free space of the data folder.', async () => {
      // A folder that is gone has no room either.
      const none = { bavail: 0, bsize: 0 }
      const { bavail, bsize } = await statfs(config.DATA_DIR).catch(() => none)
      return bavail * bsize
    }),
  ]
}

function databaseFigures({ store: { db, connections } }: FigureSources): Figure[] {
  const ask = () => db.selectFrom('accounts').select('accountId').limit(1).execute()
  return [
    one('gauge', 'facegate_database_up', 'Whether the database answers: 1 or 0.', () =>
      isTrue(ask().then(() => true)),
    ),
    {
      name: 'facegate_database_connections',
      help: 'Connections to the database, by state; of an embedded database there are none to tell.',
      kind: 'gauge',
      labels: ['state'],
      read: () => byKey('state', Object.entries(connections?.() ?? {})),
    },
  ]
}

function gateFigures({ gate }: FigureSources): Figure[] {
  return [
    {
      name: 'facegate_refusals_total',
      help: 'Calls that the gate turned away, by code.',
      kind: 'counter',
      labels: ['code'],
      read: () => byKey('code', gate.stats().refused),
    },
    {
      name: 'facegate_charged_micros_total',
      help: 'Money charged by this process, millionths of the currency; the ledger is the truth.',
      kind: 'counter',
      labels: ['action'],
      read: () =>
        byKey(
          'action',
          [...gate.stats().chargedMicros].map(([action, micros]) => [action, Number(micros)]),
        ),
    },
    one(
      'counter',
      'facegate_replays_total',
      'Retries that got the first answer again.',
      () => gate.stats().replayedCount,
    ),
    one(
      'gauge',
      'facegate_twins_waiting',
      'Retries that wait for their first attempt.',
      () => gate.stats().twinsWaiting,
    ),
    one(
      'counter',
      'facegate_twin_waits_total',
      'Waits of retries for their first attempt.',
      () => gate.stats().twinWaits,
    ),
    one(
      'gauge',
      'facegate_sweep_lag_seconds',
      'Time since overdue calls were last given up with success; 5 s is usual.',
      () => gate.stats().sweepLagMs / 1000,
    ),
  ]
}

function visionFigures({ config, vision }: FigureSources): Figure[] {
  const queueMax = config.QUEUE_PER_WORKER_MAX * config.VISION_WORKERS
  return [
    {
      name: 'facegate_vision',
      help: 'State of the vision workers and their queue.',
      kind: 'gauge',
      labels: ['figure'],
      read: () => byKey('figure', Object.entries(vision.stats())),
    },
    one('gauge', 'facegate_vision_queue_max', 'Pictures that may wait at most.', () => queueMax),
  ]
}

function searchFigures({ memory: { searchStats } }: FigureSources): Figure[] {
  return [
    one(
      'gauge',
      'facegate_search_galleries',
      'Galleries held in memory for the search.',
      () => searchStats().galleries,
    ),
    one(
      'gauge',
      'facegate_search_templates',
      'Templates held in memory for the search.',
      () => searchStats().rows,
    ),
    one(
      'gauge',
      'facegate_search_bytes',
      'Memory that these templates take.',
      () => searchStats().bytes,
    ),
  ]
}

/** A figure of one value. */
function one(
  kind: Figure['kind'],
  name: string,
  help: string,
  value: () => number | Promise<number>,
): Figure {
  return { kind, name, help, labels: [], read: async () => [{ labels: {}, value: await value() }] }
}

function byKey(label: string, values: Iterable<readonly [string, number]>): FigureValue[] {
  return [...values].map(([key, value]) => ({ labels: { [label]: key }, value }))
}

/** A database that hangs must not hang whoever asks how it is. */
const healthMsMax = 2000

async function isTrue(answer: Promise<boolean>): Promise<number> {
  const late = new AbortController()
  const { signal } = late
  const deadline = sleep(healthMsMax, false, { signal }).catch(() => false)
  const isFine = await Promise.race([answer.catch(() => false), deadline])
  late.abort()
  return isFine ? 1 : 0
}
