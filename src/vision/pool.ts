import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Look, Picture, PictureLimits, View } from './view.ts'

/** Looks at pictures in child processes, so that no picture can harm the process that serves. */
export type VisionPool = AsyncDisposable & {
  /**
   * Has one worker look at one picture.
   *
   * @throws ActionError what the pipeline found wrong with the picture, or INVALID_REQUEST for a
   *   picture that has killed workers before.
   * @throws HttpError 503 when the queue is full or slow, the worker was lost, or the pool drains.
   * @throws the reason of `call.signal` when it is aborted before a worker took the call.
   */
  readonly look: (picture: Picture, look: Look, call: VisionCall) => Promise<View>
  /**
   * Resolves when a worker can take calls; rejects when workers died at their start again and
   * again before any came up. The pool goes on trying all the same.
   */
  readonly ready: () => Promise<void>
  /** Whether a worker can take calls now. */
  readonly isReady: () => boolean
  readonly stats: () => PoolStats
  /** Refuses new calls with 503 and resolves when the accepted ones are answered. */
  readonly drain: () => Promise<void>
  /** Ends the workers; calls that are still waiting or running are answered with 503. */
  readonly close: () => Promise<void>
}

export type VisionCall = {
  /** Turns are dealt between projects, one call each in rotation. */
  readonly projectId: string
  /** JSON path of the picture in the request, for messages: `params.images[0]`. */
  readonly path: string
  /** Aborted when the client is gone: a waiting call is dropped, a running one finishes. */
  readonly signal?: AbortSignal
}

export type PoolStats = {
  readonly workersUp: number
  readonly workersBusy: number
  readonly queued: number
  readonly queuedBytes: number
  /** Workers that were lost (crash, hang, garbage, kill) since the pool was opened. */
  readonly respawns: number
  /** Workers that were replaced because of their age or growth. */
  readonly recycled: number
  /** Calls refused because their picture had killed workers. */
  readonly poisoned: number
}

/** The limits of the pool; each has its default in `poolLimits`. */
export type PoolLimits = {
  /** Calls that may wait, per worker. */
  readonly queuePerWorkerMax: number
  /** Base64 characters that may wait in all. */
  readonly queueBytesMax: number
  readonly queueWaitMsMax: number
  /** A job that runs longer costs the worker its life. */
  readonly jobMsMax: number
  /** A worker that is not ready by then is given up. */
  readonly startMsMax: number
  /** Jobs after which a worker is replaced. */
  readonly workerJobsMax: number
  /** Resident memory at which a worker is replaced, as a multiple of that after warm-up. */
  readonly workerGrowthMax: number
  /** Workers that a picture may kill before it is refused. */
  readonly poisonKillsMax: number
  /** How long a kill is remembered. */
  readonly poisonMemoryMs: number
}

export type PoolOptions = Partial<PoolLimits> & {
  readonly workers: number
  /** The folder that `preparePack` filled. */
  readonly modelsFolder: string
  readonly limits: PictureLimits
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  /** The module that each child process runs; default `./worker.ts`. */
  readonly entry?: URL
}

export declare function openPool(options: PoolOptions): VisionPool
