import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../src/lib/random/seeded-random.ts'
import { checkData, checkSubjects, type DataCheck } from './check-data.ts'
import { killWorkers, restartServer, type FaultCounts } from './faults.ts'
import { addViolation, createCallRecord, type CallRecord } from './load/call-record.ts'
import { sendHostileRequest } from './load/hostile-requests.ts'
import { runLoad } from './load/run-load.ts'
import { createSoakCalls } from './load/soak-calls.ts'
import { createSoakImages } from './load/soak-images.ts'
import { createLatencies, type Latencies } from './measure/latencies.ts'
import { createProcessSampler, type ProcessSampler } from './measure/process-samples.ts'
import { measureReference } from './measure/reference-load.ts'
import { startSoakServer, type SoakServer } from './server.ts'

export type SoakOptions = {
  readonly hours: number
  readonly seed: number
  /** Calls per second with images, without images, and with bad input. */
  readonly imagesPerS: number
  readonly cheapPerS: number
  readonly hostilePerS: number
  readonly onProgress: (text: string) => void
}

export type SoakResult = {
  readonly record: CallRecord
  readonly latencies: Latencies
  readonly sampler: ProcessSampler
  readonly counts: FaultCounts
  readonly skipped: number
  readonly data: DataCheck
  readonly dataDir: string
  /** The last process of the server, which is measured, and the end of the load. */
  readonly lastPid: number
  readonly loadEndMs: number
}

const hourMs = 3_600_000

/** Runs the load with its faults, then compares the database with the received responses. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  await using server = await startSoakServer()
  const random = seededRandom(options.seed)
  const images = await createSoakImages(random)
  const record = createCallRecord()
  const latencies = createLatencies()
  const sampler = createProcessSampler(server)
  const counts: FaultCounts = { workerKills: 0, serverKills: 0, drains: 0 }
  const stopping = new AbortController()
  const { signal } = stopping
  const durationMs = options.hours * hourMs
  const calls = createSoakCalls({ server, record, latencies, images, random })
  const hostile = { random, plain: images.plain }
  const streams = [
    { perSecond: options.imagesPerS, inFlightMax: 4, send: calls.sendImageCall },
    { perSecond: options.cheapPerS, inFlightMax: 16, send: calls.sendCheapCall },
    {
      perSecond: options.hostilePerS,
      inFlightMax: 4,
      send: () => sendHostileRequest(server, record, hostile),
    },
  ]
  const load = Promise.all(streams.map((stream) => runLoad(stream, random, signal)))
  const faults = Promise.all([
    restartServer(server, { record, counts }, { durationMs, signal }),
    killWorkers(server, { random, counts }, { durationMs, signal }),
  ])
  await measure({ sampler, latencies, record, durationMs, onProgress: options.onProgress })
  const loadEndMs = Date.now()
  const lastPid = (await server.running()).process.pid ?? 0
  stopping.abort()
  await faults
  // The last calls are in flight during this kill. Their clients retry until they are answered.
  await server.restart('SIGKILL')
  counts.serverKills += 1
  const skipped = (await load).reduce((sum, count) => sum + count, 0)
  const data = await finish(server, record)
  return {
    record,
    latencies,
    sampler,
    counts,
    skipped,
    data,
    lastPid,
    loadEndMs,
    dataDir: server.dataDir,
  }
}

type SoakMeasurement = Pick<SoakResult, 'sampler' | 'latencies' | 'record'> &
  Pick<SoakOptions, 'onProgress'> & { readonly durationMs: number }

/** Samples the processes and the reference until the end of the run. */
async function measure(measurement: SoakMeasurement): Promise<void> {
  const { sampler, latencies, record, durationMs, onProgress } = measurement
  const startMs = performance.now()
  const sampleMs = Math.min(10_000, durationMs / 60)
  const progressMs = Math.min(300_000, durationMs / 10)
  let nextProgressMs = progressMs
  for (let sampled = 1; performance.now() - startMs < durationMs; sampled++) {
    await sleep(Math.max(0, startMs + sampled * sampleMs - performance.now()))
    for (let n = 0; n < 10; n++) measureReference(latencies)
    await sampler.sample()
    if (performance.now() - startMs < nextProgressMs) continue
    nextProgressMs += progressMs
    onProgress(progressLine(sampler, record))
  }
}

function progressLine({ series }: ProcessSampler, record: CallRecord): string {
  const memory = [...series.values()]
    .filter(({ samples }) => (samples.at(-1)?.atMs ?? 0) > Date.now() - 30_000)
    .map(({ name, pid, samples }) => {
      const mib = (samples.at(-1)?.rssBytes ?? 0) / 1024 / 1024
      return `${name} ${pid}: ${mib.toFixed(0)} MiB`
    })
  const answered = [...record.answers.values()].reduce((sum, count) => sum + count, 0)
  const time = new Date().toISOString()
  return `${time} ${answered} answers, ${record.violations.length} violations; ${memory.join(', ')}`
}

async function finish(server: SoakServer, record: CallRecord): Promise<DataCheck> {
  for (const problem of await checkSubjects(server, record)) addViolation(record, problem)
  const code = await server.stop()
  if (code !== 0) addViolation(record, `the server exited with ${code} after SIGTERM`)
  return checkData(server.dataDir, record)
}
