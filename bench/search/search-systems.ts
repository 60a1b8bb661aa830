import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { openExactSearch } from '../../src/gallery/search/memory/exact-search.ts'
import type { IndexChange } from '../../src/gallery/search/memory/index-change.ts'
import { createLog } from '../../src/lib/log.ts'
import { dimensions, templateAt, type TemplateMatrix } from './random-templates.ts'
import type { PeerThreadMessage, PeerThreadInput } from './peer-thread.ts'
import type { PeerName } from './peers.ts'

/** A system that searches a gallery for probes sequentially. */
export type SearchSystem = AsyncDisposable & {
  readonly name: string
  /** Searches for the probes with these indexes. */
  readonly search: (probeIndexes: readonly number[]) => Promise<SearchRun>
  /** The largest p99 delay of the main event loop in all runs, loading included. */
  readonly delayP99Ms: () => number
}

/** The row found and the latency for each probe. */
export type SearchRun = { readonly rows: readonly number[]; readonly timesMs: readonly number[] }

const galleryId = 'bench'
const modelId = 'bench'
const batchChanges = 1_000
/** Interval of the event-loop monitor. It measures the delay beyond this interval. */
const delayResolutionMs = 1

/** Measures the delay of the main event loop while tasks run, with one monitor per task. */
function createLoopDelayMonitor() {
  const p99sMs = [0]
  return {
    during: async <T>(task: () => Promise<T>): Promise<T> => {
      const monitor = monitorEventLoopDelay({ resolution: delayResolutionMs })
      monitor.enable()
      const result = await task()
      monitor.disable()
      p99sMs.push(monitor.percentile(99) / 1e6 - delayResolutionMs)
      return result
    },
    worstP99Ms: () => Math.max(...p99sMs),
  }
}

export async function openFacegate(
  threads: number,
  { faces, probes }: { readonly faces: TemplateMatrix; readonly probes: TemplateMatrix },
  report: (text: string) => void,
): Promise<SearchSystem> {
  const search = openExactSearch({ threads, log: createLog('error') })
  const delay = createLoopDelayMonitor()
  const count = faces.densities.length
  await delay.during(async () => {
    for (let from = 0; from < count; from += batchChanges) {
      if (from % 100_000 === 0) report(`loading ${from} of ${count}`)
      await search.apply(galleryId, changesOf(faces, from))
    }
  })
  const find = async (index: number): Promise<{ row: number; timeMs: number }> => {
    const probe = templateAt(probes, index)
    const startMs = performance.now()
    const [best] = await search.search(galleryId, probe, { limit: 1, modelId })
    return { row: Number(best?.faceId), timeMs: performance.now() - startMs }
  }
  return {
    name: `facegate, ${threads} thread${threads > 1 ? 's' : ''}`,
    search: (probeIndexes) =>
      delay.during(async () => {
        const found: { row: number; timeMs: number }[] = []
        for (const index of probeIndexes) found.push(await find(index))
        return { rows: found.map(({ row }) => row), timesMs: found.map(({ timeMs }) => timeMs) }
      }),
    delayP99Ms: delay.worstP99Ms,
    [Symbol.asyncDispose]: () => search.close(),
  }
}

function changesOf(faces: TemplateMatrix, from: number): IndexChange[] {
  const to = Math.min(faces.densities.length, from + batchChanges)
  return Array.from({ length: to - from }, (_, offset): IndexChange => {
    const row = from + offset
    const vector = faces.vectors.subarray(row * dimensions, (row + 1) * dimensions)
    const density = faces.densities[row] ?? 0
    const template = { modelId, subjectId: `s${row}`, groups: [], vector, density }
    return { sequence: row + 1, faceId: String(row), template }
  })
}

/** Returns the peer, or undefined if it is not installed. */
export async function openPeerThread(
  start: Required<PeerThreadInput> & { readonly peer: PeerName },
  report: (text: string) => void,
): Promise<SearchSystem | undefined> {
  const worker = startThread(start)
  const opened = await readResult(worker, report)
  if (!opened) {
    await worker.terminate()
    return undefined
  }
  const delay = createLoopDelayMonitor()
  return {
    name: start.peer,
    search: (probeIndexes) =>
      delay.during(async () => {
        worker.postMessage(probeIndexes, [])
        return (await readResult(worker, report)) ?? { rows: [], timesMs: [] }
      }),
    delayP99Ms: delay.worstP99Ms,
    [Symbol.asyncDispose]: async () => void (await worker.terminate()),
  }
}

/** Creates the faces in a thread. A million faces take some seconds. */
export async function fillTemplatesInThread(faces: TemplateMatrix): Promise<void> {
  const worker = startThread({ faces })
  await readResult(worker, () => {})
  await worker.terminate()
}

function startThread(workerData: PeerThreadInput): Worker {
  return new Worker(new URL('./peer-thread.ts', import.meta.url), { workerData })
}

function readResult(
  worker: Worker,
  report: (text: string) => void,
): Promise<SearchRun | undefined> {
  return new Promise((resolve, reject) => {
    const listen = (message: PeerThreadMessage): void => {
      if ('progress' in message) return report(message.progress)
      worker.off('message', listen)
      worker.off('error', reject)
      resolve('isMissing' in message ? undefined : message)
    }
    worker.on('message', listen)
    worker.on('error', reject)
  })
}
