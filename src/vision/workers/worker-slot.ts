import type { WorkerProcess } from './worker-process.ts'

/** The health of one of the pool's workers, over all its processes. */
export type WorkerReport = {
  /** null while no process is ready. */
  readonly pid: number | null
  /**
   * `starting`: no process is ready yet. `lost`: the process ended unexpectedly or failed to start,
   * and the next one is not ready yet.
   */
  readonly state: 'ready' | 'busy' | 'starting' | 'lost'
  /** When the process became ready, milliseconds since 1970; null if there is none. */
  readonly startedAtMs: number | null
  /** Images since the start of the server. */
  readonly jobs: number
  /** Resident memory after the last image; null before the first. */
  readonly rssBytes: number | null
  /** Replacements of the process since the start of the server, and the reason of the last one. */
  readonly restarts: number
  readonly lastReason: string | null
}

export type WorkerSlot = {
  readonly onStarted: (worker: WorkerProcess) => void
  readonly onFailedStart: () => void
  readonly onReplaced: (reason: string, isLost: boolean) => void
  readonly report: () => WorkerReport
  /** Processes that crashed or were killed. */
  readonly lostCount: () => number
  /** Processes that a new one has replaced because of their age or memory. */
  readonly recycledCount: () => number
}

/** Follows the processes of one worker. A recycled process stays in use until the next one is ready. */
export function createWorkerSlot(): WorkerSlot {
  let worker: WorkerProcess | undefined
  let startedAtMs: number | null = null
  let hasFailed = false
  let formerJobs = 0
  let restarts = 0
  let lostCount = 0
  let recycledCount = 0
  let isRecycling = false
  let lastReason: string | null = null
  return {
    onStarted: (started) => {
      formerJobs += worker?.jobs() ?? 0
      worker = started
      startedAtMs = Date.now()
      hasFailed = false
      if (isRecycling) recycledCount += 1
      isRecycling = false
    },
    onFailedStart: () => {
      hasFailed = true
      lastReason = 'failed to start'
    },
    onReplaced: (reason, isLost) => {
      restarts += 1
      hasFailed = isLost
      isRecycling = !isLost
      if (isLost) lostCount += 1
      lastReason = shortReason(reason)
    },
    lostCount: () => lostCount,
    recycledCount: () => recycledCount,
    report: () => {
      const jobs = formerJobs + (worker?.jobs() ?? 0)
      const counts = { jobs, restarts, lastReason }
      if (!worker || worker.isLost())
        return {
          pid: null,
          state: hasFailed || worker ? 'lost' : 'starting',
          startedAtMs: null,
          rssBytes: null,
          ...counts,
        }
      const state = worker.isBusy() ? 'busy' : 'ready'
      return { pid: worker.pid, state, startedAtMs, rssBytes: worker.rssBytes(), ...counts }
    },
  }
}

/** An invalid reply is not repeated: a worker decodes untrusted images. */
function shortReason(reason: string): string {
  const text = reason.replace(/^the worker was lost: /u, '')
  return text.startsWith('invalid reply') ? 'invalid reply' : text.slice(0, reasonCharsMax)
}

const reasonCharsMax = 200
