import { setTimeout as pause } from 'node:timers/promises'

import type { Log } from '../../lib/log.ts'
import type { WorkerProcess } from './worker-process.ts'

/** A fixed number of seats with a worker in each, for ever. */
export type WorkerSupervisor = {
  /** The workers that are up, also those that are about to be let go. */
  readonly workers: ReadonlySet<WorkerProcess>
  /** Resolves when somebody is up; rejects when the next few starts have failed in a row. */
  readonly ready: () => Promise<void>
  /** Workers that died or were killed, since the start. */
  readonly lostCount: () => number
  /** Worn workers that were let go, since the start. */
  readonly recycledCount: () => number
  /** Resolves when `signal` was aborted and every process is gone. */
  readonly closed: Promise<void>
}

export type WorkerSupervisorOptions = {
  readonly workerCount: number
  readonly startWorker: () => Promise<WorkerProcess>
  /** Called with each worker that came up. */
  readonly onStarted: (child: WorkerProcess) => void
  /** Called with each worker whose successor is up; it may still be busy. */
  readonly onReplaced: (child: WorkerProcess) => void
  /** Closes the crew when aborted; `start` has to heed it too. */
  readonly signal: AbortSignal
  readonly log: Pick<Log, 'debug' | 'warn' | 'error'>
}

/** Starts that fail in a row until those who wait for the crew are told. */
const failedStartsMax = 3

export function superviseWorkers(options: WorkerSupervisorOptions): WorkerSupervisor {
  const { workerCount: seats, onStarted: admit, onReplaced: dismiss, signal, log } = options
  const up = new Set<WorkerProcess>()
  let arrival = createReadySignal()
  let lostCount = 0
  let wornCount = 0

  /** One seat: the successor of a worn worker is up before that one is let go. */
  async function keepSeat(): Promise<void> {
    let worn: WorkerProcess | undefined
    const next = () => startWithRetry(options, onFailedStart)
    for (let child = await next(); child; child = await next()) {
      welcome(child)
      if (worn) replace(worn)
      const end = await child.replacementDue
      if (signal.aborted) return
      worn = end === 'worn' ? child : undefined
      if (!worn) lostCount += 1
      const why = end === 'worn' ? 'it has aged' : end.message
      log.warn({ workerPid: child.pid, why }, 'a vision worker is being replaced')
    }
  }

  function onFailedStart(error: unknown, attempt: number): void {
    log.error({ err: error, attempt }, 'a vision worker died at its start')
    if (attempt >= failedStartsMax && up.size === 0) arrival.reject(error)
  }

  function welcome(child: WorkerProcess): void {
    up.add(child)
    void child.exited.then(() => up.delete(child))
    arrival.resolve()
    arrival = createReadySignal()
    log.debug({ workerPid: child.pid }, 'a vision worker is up')
    admit(child)
  }

  function replace(worn: WorkerProcess): void {
    wornCount += 1
    dismiss(worn)
  }

  async function close(): Promise<void> {
    await Promise.all(Array.from({ length: seats }, keepSeat))
    arrival.reject(new Error('the vision pool is closed'))
    await Promise.all([...up].map((child) => child.exited))
  }

  const ready = () => (up.size > 0 ? Promise.resolve() : arrival.promise)
  return {
    workers: up,
    ready,
    lostCount: () => lostCount,
    recycledCount: () => wornCount,
    closed: close(),
  }
}

/** Resolves with a worker that is up, or with nothing when the crew is closed. */
async function startWithRetry(
  { startWorker: start, signal }: WorkerSupervisorOptions,
  onFailure: (error: unknown, attempt: number) => void,
): Promise<WorkerProcess | undefined> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      return await start()
    } catch (error) {
      if (signal.aborted) break
      onFailure(error, attempt)
      // Closing cuts the pause short, by an error that says nothing else.
      await pause(backOffMs(attempt), undefined, { signal }).catch(() => undefined)
    }
  }
  return undefined
}

/** The first death at a start may be chance; from the second on the pause doubles up to 10 s. */
function backOffMs(failures: number): number {
  return failures < 2 ? 0 : Math.min(10_000, 250 * 2 ** (failures - 1))
}

function createReadySignal(): PromiseWithResolvers<void> {
  const arrival = Promise.withResolvers<void>()
  // Nobody need be waiting; the log has the reason already.
  arrival.promise.catch(() => undefined)
  return arrival
}
