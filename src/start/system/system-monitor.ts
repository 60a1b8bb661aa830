import { hostname } from 'node:os'
import type { Config } from '../../config.ts'
import type { ServerReport } from '../../console/pages/system/server-report.ts'
import { runAsAllAccounts } from '../../lib/account-context.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import {
  createLatencyHistogram,
  latencyPercentileMs,
  recordLatency,
} from '../../lib/observability/latency-histogram.ts'
import type { RecentProblems } from '../../lib/observability/recent-problems.ts'
import type { Store } from '../../store/database.ts'
import {
  addSample,
  deleteOldHistory,
  startServer,
  stopServer,
  storeReport,
  systemHistoryMs,
} from '../../store/system/system-history.ts'
import type { VisionPool, VisionPoolStats } from '../../vision/workers/vision-pool.ts'
import { schedule } from '../schedule.ts'
import { readRuntimeVersions } from './runtime-versions.ts'

/** Measures this server, and stores a sample and its report once a minute. */
export type SystemMonitor = AsyncDisposable & ReturnType<typeof openSystemMonitor>

export type SystemMonitorSources = {
  readonly version: string
  readonly store: Store
  readonly vision: Pick<VisionPool, 'workerReports'> & {
    readonly stats: () => Pick<VisionPoolStats, 'workersUp' | 'queued' | 'queuedBytes'>
  }
  readonly notReady: () => Promise<readonly string[]>
  readonly recentProblems: Pick<RecentProblems, 'list'>
  readonly clock: Clock
  readonly log: Log
}

const sampleIntervalMs = 60_000
/** The queue is shorter than a minute: the highest of these measurements is stored. */
const queueIntervalMs = 1000
/** Warnings and errors in a stored report. */
const storedProblemsMax = 50

/** Opens the monitor of this server. It writes nothing before its start. */
export function openSystemMonitor({ PORT }: Pick<Config, 'PORT'>, sources: SystemMonitorSources) {
  const { version, store, vision, clock, log } = sources
  const { pid } = process
  // Servers on one machine have different ports. Port 0 stands for any free port, so the process id
  // is added.
  const server = PORT === 0 ? `${hostname()} process ${pid}` : `${hostname()}:${PORT}`
  const latency = createMinuteLatency()
  let queuedMax = 0
  const measureQueue = (): void => void (queuedMax = Math.max(queuedMax, vision.stats().queued))
  const report = () => reportServer(sources)
  const storeSample = async (): Promise<void> => {
    measureQueue()
    const stored = await report()
    const atMs = clock()
    const workerBytes = stored.workers.reduce((sum, { rssBytes }) => sum + (rssBytes ?? 0), 0)
    const sample = { ...latency.take(), queuedMax, workersUp: vision.stats().workersUp }
    queuedMax = 0
    await store.write(async (tx) => {
      await addSample(tx, { server, atMs, ...stored.memory, workerBytes, ...sample })
      await storeReport(tx, { server, pid, reportedAtMs: atMs, report: JSON.stringify(stored) })
      await deleteOldHistory(tx, atMs - systemHistoryMs)
    })
  }
  const jobs = new AsyncDisposableStack()
  const start = async (): Promise<void> => {
    const atMs = clock()
    const times = { startedAtMs: atMs, reportedAtMs: atMs, stoppedAtMs: null }
    const row = { server, pid, version, ...times, report: JSON.stringify(await report()) }
    await runAsAllAccounts(() => store.write((tx) => startServer(tx, row)))
    const stop = () => store.write((tx) => stopServer(tx, { server, pid, stoppedAtMs: clock() }))
    // Without a database, the server is listed as lost.
    jobs.defer(() => runAsAllAccounts(stop).catch(() => undefined))
    const failure = 'the state of this server could not be stored'
    jobs.use(schedule(storeSample, { intervalMs: sampleIntervalMs, failure, isDelayed: true }, log))
    const queue = setInterval(measureQueue, queueIntervalMs)
    jobs.defer(() => clearInterval(queue))
  }
  return {
    /** The name of this server: the same after a restart. */
    server,
    /** Registers this server in the database, and begins to store samples. */
    start,
    recordCall: latency.record,
    /** Returns the present state of this server. */
    report,
    /** Stores a sample and the report now. */
    store: (): Promise<void> => runAsAllAccounts(storeSample),
    [Symbol.asyncDispose]: () => jobs.disposeAsync(),
  }
}

/** Counts the calls and the latencies of one minute of this server. */
function createMinuteLatency() {
  let histogram = createLatencyHistogram()
  let calls = 0
  return {
    record: (latencyMs: number): void => {
      recordLatency(histogram, latencyMs)
      calls += 1
    },
    /** Returns the values since the last time, and begins again. */
    take: () => {
      const p50Ms = latencyPercentileMs(histogram, 0.5)
      const p95Ms = latencyPercentileMs(histogram, 0.95)
      const taken = { calls, p50Ms, p95Ms }
      histogram = createLatencyHistogram()
      calls = 0
      return taken
    },
  }
}

async function reportServer({
  store,
  vision,
  notReady,
  recentProblems,
}: SystemMonitorSources): Promise<ServerReport> {
  const { rss, heapUsed } = process.memoryUsage()
  const { queued, queuedBytes } = vision.stats()
  return {
    uptimeS: process.uptime(),
    reasons: [...(await notReady())],
    memory: { rssBytes: rss, heapBytes: heapUsed },
    workers: vision.workerReports().map((worker) => ({ ...worker })),
    queue: { images: queued, bytes: queuedBytes },
    database: {
      responseMs: await measureDatabase(store),
      connections: store.connectionCounts?.() ?? null,
    },
    runtime: { ...readRuntimeVersions() },
    problems: recentProblems
      .list()
      .slice(-storedProblemsMax)
      .map(({ error, ...problem }) => ({
        ...problem,
        values: { ...problem.values },
        ...(error && { error: { ...error, frames: [...error.frames] } }),
      })),
  }
}

/** Returns the time of a simple query; null if it fails. */
async function measureDatabase({ db }: Store): Promise<number | null> {
  const query = db.selectFrom('accounts').select('accountId').limit(1)
  const startMs = performance.now()
  const isUp = await runAsAllAccounts(() => query.execute()).then(
    () => true,
    () => false,
  )
  return isUp ? performance.now() - startMs : null
}
