import { randomBytes } from 'node:crypto'

import type { Clock } from '../../lib/clock.ts'
import { unavailable } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { withSpan } from '../../lib/observability/call-trace.ts'
import type { ModelSet } from '../../models/model-set.ts'
import { startWorker } from './worker-process.ts'
import type { WorkerProcess } from './worker-process.ts'
import { superviseWorkers } from './supervisor.ts'
import type { WorkerSupervisor } from './supervisor.ts'
import type { AnalysisJob } from './ipc/messages.ts'
import { WorkerLostError } from './worker-connection.ts'
import { createCrashQuarantine } from './crash-quarantine.ts'
import type { CrashQuarantine } from './crash-quarantine.ts'
import { visionPoolLimits } from './vision-pool-limits.ts'
import type { VisionPoolLimits } from './vision-pool-limits.ts'
import { createWorkerQueue } from './queue/worker-queue.ts'
import type { WorkerQueue } from './queue/worker-queue.ts'
import type {
  AnalysisRequest,
  EncodedImage,
  ImageLimits,
  ImageAnalysis,
} from '../image-analysis.ts'

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
  readonly analyzeImage: (
    picture: EncodedImage,
    look: AnalysisRequest,
    call: AnalyzeImageOptions,
  ) => Promise<ImageAnalysis>
  /**
   * Resolves when a worker can take calls; rejects when workers died at their start again and
   * again before any came up. The pool goes on trying all the same.
   */
  readonly ready: () => Promise<void>
  /** Whether a worker can take calls now. */
  readonly isReady: () => boolean
  readonly stats: () => VisionPoolStats
  /** Refuses new calls with 503 and resolves when the accepted ones are answered. */
  readonly drain: () => Promise<void>
  /** Ends the workers; calls that are still waiting or running are answered with 503. */
  readonly close: () => Promise<void>
}

export type AnalyzeImageOptions = {
  /** Turns are dealt between projects, one call each in rotation. */
  readonly projectId: string
  /** JSON path of the picture in the request, for messages: `params.images[0]`. */
  readonly path: string
  /** Aborted when the client is gone: a waiting call is dropped, a running one finishes. */
  readonly signal?: AbortSignal
}

export type VisionPoolStats = {
  readonly workersUp: number
  readonly workersBusy: number
  readonly queued: number
  readonly queuedBytes: number
  /** Workers lost (crash, hang, garbage, kill) since the pool was opened. */
  readonly respawns: number
  /** Workers replaced because of their age or growth. */
  readonly recycled: number
  /** Calls refused because their picture had killed workers. */
  readonly quarantined: number
}

/** What is left out of the limits takes its default from `poolLimits`. */
export type VisionPoolOptions = Partial<VisionPoolLimits> & {
  readonly workers: number
  /** The folder that `preparePack` filled. */
  readonly modelsFolder: string
  /** Which models the workers look with. */
  readonly modelSet: ModelSet
  readonly limits: ImageLimits
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'warn' | 'error'>
  /** The module that each child process runs; default `./worker.ts`. */
  readonly entryModule?: URL
}

export function openVisionPool(options: VisionPoolOptions): VisionPool {
  return new WorkerPool(options)
}

class WorkerPool implements VisionPool {
  readonly #turns: WorkerQueue<WorkerProcess>
  readonly #poison: CrashQuarantine
  readonly #crew: WorkerSupervisor
  readonly #accepted = new Set<Promise<ImageAnalysis>>()
  readonly #closing = new AbortController()
  #isDraining = false

  constructor(options: VisionPoolOptions) {
    const { workers, clock, log } = options
    const limits: VisionPoolLimits = { ...visionPoolLimits, ...options }
    const turnLimits = {
      countMax: limits.queuePerWorkerMax * workers,
      bytesMax: limits.queueBytesMax,
      waitMsMax: limits.queueWaitMsMax,
    }
    this.#turns = createWorkerQueue<WorkerProcess>(turnLimits, (child) => void child.kill())
    this.#poison = createCrashQuarantine({
      crashesMax: limits.quarantineCrashesMax,
      retentionMs: limits.quarantineMs,
      key: randomBytes(32),
      clock,
    })
    this.#crew = superviseWorkers({
      workerCount: workers,
      startWorker: () =>
        startWorker({
          entryModule: options.entryModule ?? new URL('./worker.ts', import.meta.url),
          startOptions: {
            modelsFolder: options.modelsFolder,
            modelSet: options.modelSet,
            limits: options.limits,
          },
          limits,
          signal: this.#closing.signal,
          log,
        }),
      onStarted: (child) => this.#admit(child),
      onReplaced: this.#turns.retire,
      signal: this.#closing.signal,
      log,
    })
  }

  async analyzeImage(
    picture: EncodedImage,
    look: AnalysisRequest,
    call: AnalyzeImageOptions,
  ): Promise<ImageAnalysis> {
    if (this.#isDraining) throw unavailable('shutting down')
    const view = this.#analyzeInTurn({ image: picture, request: look, path: call.path }, call)
    this.#accepted.add(view)
    try {
      return await view
    } finally {
      this.#accepted.delete(view)
    }
  }

  async #analyzeInTurn(
    job: AnalysisJob,
    { projectId, path, signal }: AnalyzeImageOptions,
  ): Promise<ImageAnalysis> {
    const { bytes } = job.image
    this.#poison.assertNotQuarantined(bytes, path)
    const child = await withSpan('vision.queue', () =>
      this.#turns.acquire({ projectId, bytes: bytes.length }, signal),
    )
    try {
      // Once more: a twin of this picture may have killed a worker while this one waited.
      this.#poison.assertNotQuarantined(bytes, path)
      return await withSpan('vision.analyze', () => child.run(job))
    } catch (error) {
      if (!(error instanceof WorkerLostError)) throw error
      this.#poison.recordCrash(bytes)
      throw unavailable('processing failed, retry', 1, error)
    } finally {
      if (!child.isLost()) this.#turns.release(child)
    }
  }

  #admit(child: WorkerProcess): void {
    void child.exited.then(() => this.#turns.remove(child))
    this.#turns.release(child)
  }

  ready(): Promise<void> {
    return this.#crew.ready()
  }

  isReady(): boolean {
    return this.#crew.workers.size > 0 && !this.#isDraining
  }

  stats(): VisionPoolStats {
    return {
      workersUp: this.#crew.workers.size,
      workersBusy: [...this.#crew.workers].filter((child) => child.isBusy()).length,
      queued: this.#turns.count(),
      queuedBytes: this.#turns.bytes(),
      respawns: this.#crew.lostCount(),
      recycled: this.#crew.recycledCount(),
      quarantined: this.#poison.rejectedCount(),
    }
  }

  async drain(): Promise<void> {
    this.#isDraining = true
    await Promise.allSettled(this.#accepted)
  }

  async close(): Promise<void> {
    this.#isDraining = true
    this.#turns.rejectAll()
    this.#closing.abort()
    await this.#crew.closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
