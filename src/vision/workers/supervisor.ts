import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../lib/log.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Keeps a fixed number of worker processes running. */
export type WorkerSupervisor = ReturnType<typeof superviseWorkers>

type WorkerSupervisorOptions = {
  readonly workerCount: number
  readonly startWorker: () => Promise<WorkerProcess>
  /** Called with each worker that has started. */
  readonly onStarted: (worker: WorkerProcess) => void
  /** Called with each recycled worker after its replacement has started; it may still be busy. */
  readonly onReplaced: (worker: WorkerProcess) => void
  /** Stops the supervisor when aborted. `startWorker` must observe it too. */
  readonly signal: AbortSignal
  readonly log: Pick<Log, 'debug' | 'warn' | 'error'>
}

/** Consecutive failed starts after which `ready` rejects. */
const failedStartsMax = 3

export function superviseWorkers(options: WorkerSupervisorOptions) {
  const { workerCount, onStarted, onReplaced, signal, log } = options
  const workers = new Set<WorkerProcess>()
  const slots = Array.from({ length: workerCount }, createWorkerSlot)
  let readySignal = createReadySignal()

  /** Runs one slot. A recycled worker is stopped only after its replacement has started. */
  async function runSlot(slot: WorkerSlot): Promise<void> {
    let recycled: WorkerProcess | undefined
    const startNext = () =>
      startWithRetry(options, (error, attempt) => onFailedStart(slot, error, attempt))
    for (let worker = await startNext(); worker; worker = await startNext()) {
      addWorker(worker)
      slot.onStarted(worker)
      if (recycled) onReplaced(recycled)
      const cause = await worker.replacementDue
      if (signal.aborted) return
      recycled = cause === 'recycle' ? worker : undefined
      const reason = cause === 'recycle' ? 'its job or memory limit is reached' : cause.message
      slot.onReplaced(reason, cause !== 'recycle')
      log.warn({ workerPid: worker.pid, reason }, 'replacing a vision worker')
    }
  }

  function onFailedStart(slot: WorkerSlot, error: unknown, attempt: number): void {
    slot.onFailedStart()
    log.error({ err: error, attempt }, 'a vision worker failed to start')
    if (attempt >= failedStartsMax && workers.size === 0) readySignal.reject(error)
  }

  function addWorker(worker: WorkerProcess): void {
    workers.add(worker)
    void worker.exited.then(() => workers.delete(worker))
    readySignal.resolve()
    readySignal = createReadySignal()
    log.debug({ workerPid: worker.pid }, 'a vision worker started')
    onStarted(worker)
  }

  async function runUntilAborted(): Promise<void> {
    await Promise.all(slots.map(runSlot))
    readySignal.reject(new Error('the vision pool is closed'))
    await Promise.all([...workers].map((worker) => worker.exited))
  }

  const ready = () => (workers.size > 0 ? Promise.resolve() : readySignal.promise)
  return {
    /** The running workers, including those that are about to be replaced. */
    workers,
    /** Resolves when a worker is running; rejects after several consecutive failed starts. */
    ready,
    /** Workers that crashed or were killed, since the start. */
    lostCount: (): number => sumOf(slots, ({ lostCount }) => lostCount()),
    /** Workers replaced because of their age or memory, since the start. */
    recycledCount: (): number => sumOf(slots, ({ recycledCount }) => recycledCount()),
    /** The health of each slot, in a fixed order. */
    reports: (): readonly WorkerReport[] => slots.map((slot) => slot.report()),
    /** Resolves when `signal` is aborted and every process has exited. */
    closed: runUntilAborted(),
  }
}

function sumOf(slots: readonly WorkerSlot[], count: (slot: WorkerSlot) => number): number {
  return slots.reduce((sum, slot) => sum + count(slot), 0)
}

/** Resolves with a started worker, or with undefined when the signal is aborted. */
async function startWithRetry(
  { startWorker, signal }: WorkerSupervisorOptions,
  onFailure: (error: unknown, attempt: number) => void,
): Promise<WorkerProcess | undefined> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      return await startWorker()
    } catch (error) {
      if (signal.aborted) break
      onFailure(error, attempt)
      // The signal ends the pause early with an error that needs no handling.
      await pause(backOffMs(attempt), undefined, { signal }).catch(() => undefined)
    }
  }
  return undefined
}

/** The first failure is retried immediately. From the second on, the pause doubles up to 10 s. */
function backOffMs(failures: number): number {
  return failures < 2 ? 0 : Math.min(10_000, 250 * 2 ** (failures - 1))
}

function createReadySignal(): PromiseWithResolvers<void> {
  const readySignal = Promise.withResolvers<void>()
  // Prevents an unhandled rejection when `ready` is not being awaited. The reason is logged.
  readySignal.promise.catch(() => undefined)
  return readySignal
}

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

type WorkerSlot = ReturnType<typeof createWorkerSlot>

/** Follows the processes of one worker. A recycled process stays in use until the next one is ready. */
function createWorkerSlot() {
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
    onStarted: (started: WorkerProcess): void => {
      formerJobs += worker?.jobs() ?? 0
      worker = started
      startedAtMs = Date.now()
      hasFailed = false
      if (isRecycling) recycledCount += 1
      isRecycling = false
    },
    onFailedStart: (): void => {
      hasFailed = true
      lastReason = 'failed to start'
    },
    onReplaced: (reason: string, isLost: boolean): void => {
      restarts += 1
      hasFailed = isLost
      isRecycling = !isLost
      if (isLost) lostCount += 1
      lastReason = shortReason(reason)
    },
    /** Processes that crashed or were killed. */
    lostCount: (): number => lostCount,
    /** Processes that a new one has replaced because of their age or memory. */
    recycledCount: (): number => recycledCount,
    report: (): WorkerReport => {
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
