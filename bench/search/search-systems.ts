import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { openExactSearch, type ExactSearch } from '../../src/gallery/search/memory/exact-search.ts'
import { packRows, type LoadedTemplate } from '../../src/gallery/search/load/packed-rows.ts'
import { createLog } from '../../src/lib/log.ts'
import { measureStall, type LongestStall } from '../support/measure-stall.ts'
import { templateAt, type TemplateMatrix, type TemplateSource } from './random-templates.ts'
import type { PeerThreadMessage, PeerThreadInput } from './peer-thread.ts'
import type { PeerName } from './peers.ts'

/** A system that searches a gallery for probes sequentially. */
export type SearchSystem = AsyncDisposable & {
  readonly name: string
  /** Searches for the probes with these indexes. */
  readonly search: (probeIndexes: readonly number[], probes: TemplateMatrix) => Promise<SearchRun>
  /** The largest p99 delay of the main event loop in all runs, loading included. */
  readonly delayP99Ms: () => number
}

/** The row found and the latency for each probe. */
export type SearchRun = { readonly rows: readonly number[]; readonly timesMs: readonly number[] }

const galleryId = 'bench'
const modelId = 'bench'
const batchFaces = 1_024
const changedTemplates = 1_000
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

/** The search of this service, with what its load took and what its changes take. */
export type FacegateSystem = SearchSystem & {
  readonly loadSeconds: number
  readonly bytesPerTemplate: number
  /** Adds and deletes a thousand templates, and returns the longest stall of the event loop. */
  readonly change: (probes: TemplateMatrix) => Promise<LongestStall>
}

/** Opens the search and loads all faces of a source, as a start does after decrypting them. */
export async function openFacegate(
  threads: number,
  faces: TemplateSource,
  report: (text: string) => void,
): Promise<FacegateSystem> {
  const search = openExactSearch({ threads, log: createLog('error') })
  const delay = createLoopDelayMonitor()
  const startMs = performance.now()
  await delay.during(async () => {
    let stored = Promise.resolve()
    for (let from = 0; from < faces.count; from += batchFaces) {
      if (from % (100 * batchFaces) === 0) report(`loading ${from} of ${faces.count}`)
      const packed = packRows(rowsOf(faces, from))
      await stored
      stored = search.load(galleryId, [packed], { sequence: 1, subjectCount: faces.count })
    }
    await stored
  })
  const loadSeconds = (performance.now() - startMs) / 1000
  const { bytes, rows } = search.stats()
  return {
    name: `facegate, ${threads} thread${threads > 1 ? 's' : ''}`,
    loadSeconds,
    bytesPerTemplate: bytes / rows,
    change: (probes) => changeTemplates(search, faces.count, probes),
    search: (probeIndexes, probes) =>
      delay.during(() => searchProbes(search, probeIndexes, probes)),
    delayP99Ms: delay.worstP99Ms,
    [Symbol.asyncDispose]: () => search.close(),
  }
}

async function searchProbes(
  search: ExactSearch,
  probeIndexes: readonly number[],
  probes: TemplateMatrix,
): Promise<SearchRun> {
  const rows: number[] = []
  const timesMs: number[] = []
  for (const index of probeIndexes) {
    const probe = templateAt(probes, index)
    const startMs = performance.now()
    const [best] = await search.search(galleryId, probe, { limit: 1, modelId })
    timesMs.push(performance.now() - startMs)
    rows.push(Number.parseInt(best?.subjectId.slice(-12) ?? '', 16))
  }
  return { rows, timesMs }
}

/** Adds and removes a thousand templates after `count` others. @returns the longest stall. */
async function changeTemplates(
  search: ExactSearch,
  count: number,
  probes: TemplateMatrix,
): Promise<LongestStall> {
  const stall = measureStall()
  const additions = Array.from({ length: changedTemplates }, (_, index) => {
    const face = templateAt(probes, index % probes.densities.length)
    const template = { ...face, modelId, faces: 1, groups: [] }
    return { sequence: index + 2, subjectId: idOf(count + index), templates: [template] }
  })
  await search.apply(galleryId, additions)
  const removals = additions.map(({ subjectId, sequence }) => ({
    subjectId,
    sequence: sequence + changedTemplates,
    templates: [],
  }))
  await search.apply(galleryId, removals)
  return stall.stop()
}

function rowsOf(faces: TemplateSource, from: number): LoadedTemplate[] {
  const to = Math.min(faces.count, from + batchFaces)
  return faces.read(from, to).map((template, offset) => {
    const id = idOf(from + offset)
    return { ...template, modelId, subjectId: id, faceId: id, faces: 1, groups: [] }
  })
}

/** Returns a UUID that contains the number of a row. */
function idOf(row: number): string {
  return `00000000-0000-4000-8000-${row.toString(16).padStart(12, '0')}`
}

/** Returns the peer, or undefined if it is not installed. */
export async function openPeerThread(
  start: PeerThreadInput & { readonly peer: PeerName },
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
