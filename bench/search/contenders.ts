import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { openExactSearch, type Change } from '../../src/gallery/search/exact.ts'
import { createLog } from '../../src/lib/log.ts'
import { dimensions, faceAt, type Faces } from './faces.ts'
import type { PeerMessage, PeerStart } from './peer-thread.ts'
import type { PeerName } from './peers.ts'

/** Somebody who searches a gallery for probes, one after the other. */
export type Contender = AsyncDisposable & {
  readonly name: string
  /** Searches for the probes of these numbers. */
  readonly race: (wanted: readonly number[]) => Promise<Run>
  /** The main event loop's delay at work: the worst of its runs' p99, loading included. */
  readonly delayP99Ms: () => number
}

/** For each probe the row found and the time it took. */
export type Run = { readonly rows: readonly number[]; readonly timesMs: readonly number[] }

const galleryId = 'bench'
const modelId = 'bench'
const changesAtATime = 1_000
/** Between two looks at the loop; what is measured is how much later it comes than it should. */
const delayResolutionMs = 1

/** Measures the main event loop's delay while tasks run, each with a monitor of its own. */
function openDelay() {
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
  { faces, probes }: { readonly faces: Faces; readonly probes: Faces },
  report: (text: string) => void,
): Promise<Contender> {
  const search = openExactSearch({ threads, log: createLog('error') })
  const delay = openDelay()
  const count = faces.densities.length
  await delay.during(async () => {
    for (let from = 0; from < count; from += changesAtATime) {
      if (from % 100_000 === 0) report(`loading ${from} of ${count}`)
      await search.apply(galleryId, changesOf(faces, from))
    }
  })
  const find = async (at: number): Promise<{ row: number; timeMs: number }> => {
    const probe = faceAt(probes, at)
    const startMs = performance.now()
    const [best] = await search.search(galleryId, probe, { limit: 1, modelId })
    return { row: Number(best?.templateId), timeMs: performance.now() - startMs }
  }
  return {
    name: `facegate, ${threads} thread${threads > 1 ? 's' : ''}`,
    race: (wanted) =>
      delay.during(async () => {
        const found: { row: number; timeMs: number }[] = []
        for (const at of wanted) found.push(await find(at))
        return { rows: found.map(({ row }) => row), timesMs: found.map(({ timeMs }) => timeMs) }
      }),
    delayP99Ms: delay.worstP99Ms,
    [Symbol.asyncDispose]: () => search.close(),
  }
}

function changesOf(faces: Faces, from: number): Change[] {
  const to = Math.min(faces.densities.length, from + changesAtATime)
  return Array.from({ length: to - from }, (_, at): Change => {
    const row = from + at
    const vector = faces.vectors.subarray(row * dimensions, (row + 1) * dimensions)
    const density = faces.densities[row] ?? 0
    const template = { modelId, subjectId: `s${row}`, groups: [], vector, density }
    return { sequence: row + 1, templateId: String(row), template }
  })
}

/** The peer, or nothing when it is not installed. */
export async function openPeerThread(
  start: Required<PeerStart> & { readonly peer: PeerName },
  report: (text: string) => void,
): Promise<Contender | undefined> {
  const worker = startThread(start)
  const opened = await answerOf(worker, report)
  if (!opened) {
    await worker.terminate()
    return undefined
  }
  const delay = openDelay()
  return {
    name: start.peer,
    race: (wanted) =>
      delay.during(async () => {
        worker.postMessage(wanted, [])
        return (await answerOf(worker, report)) ?? { rows: [], timesMs: [] }
      }),
    delayP99Ms: delay.worstP99Ms,
    [Symbol.asyncDispose]: async () => void (await worker.terminate()),
  }
}

/** Fills the faces in a thread: a million take some seconds. */
export async function makeFacesInThread(faces: Faces): Promise<void> {
  const worker = startThread({ faces })
  await answerOf(worker, () => {})
  await worker.terminate()
}

function startThread(workerData: PeerStart): Worker {
  return new Worker(new URL('./peer-thread.ts', import.meta.url), { workerData })
}

function answerOf(worker: Worker, report: (text: string) => void): Promise<Run | undefined> {
  return new Promise((resolve, reject) => {
    const listen = (message: PeerMessage): void => {
      if ('progress' in message) return report(message.progress)
      worker.off('message', listen)
      worker.off('error', reject)
      resolve('isMissing' in message ? undefined : message)
    }
    worker.on('message', listen)
    worker.on('error', reject)
  })
}
