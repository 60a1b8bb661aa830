import { randomBytes } from 'node:crypto'

import type { Clock } from '../../lib/clock.ts'
import { unavailable } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { withSpan } from '../../lib/observability/call-trace.ts'
import type { ModelSet } from '../../models/model-set.ts'
import type { AnalysisRequest, ImageAnalysis } from '../image-analysis.ts'
import type { EncodedImage, ImageLimits } from '../image/input/encoded-image.ts'
import { createCrashQuarantine, type CrashQuarantine } from './crash-quarantine.ts'
import type { AnalysisJob } from './ipc/messages.ts'
import { createWorkerQueue, type WorkerQueue } from './queue/worker-queue.ts'
import { superviseWorkers, type WorkerSupervisor } from './supervisor.ts'
import {
  fixedPoolLimits,
  type VisionPoolLimitOptions,
  type VisionPoolLimits,
} from './vision-pool-limits.ts'
import { WorkerLostError } from './worker-connection.ts'
import { startWorker, type WorkerProcess } from './worker-process.ts'

/** Analyzes images in child processes, so that a hostile image cannot crash the server. */
export type VisionPool = AsyncDisposable & {
  /**
   * Analyzes one image in one worker.
   *
   * @throws ActionError of the pipeline, or INVALID_REQUEST for an image that crashed workers before.
   * @throws HttpError 503 if the queue is full, the wait is too long, the worker was lost, or the
   *   pool is draining.
   * @throws the reason of `options.signal` if it is aborted before a worker is assigned.
   */
  readonly analyzeImage: (
    image: EncodedImage,
    request: AnalysisRequest,
    options: AnalyzeImageOptions,
  ) => Promise<ImageAnalysis>
  /**
   * Resolves when a worker can take calls. Rejects if workers repeatedly fail to start and none is
   * running; the pool still continues to retry.
   */
  readonly ready: () => Promise<void>
  /** Whether a worker can take calls now. */
  readonly isReady: () => boolean
  readonly stats: () => VisionPoolStats
  /** Rejects new calls with 503 and resolves when all accepted calls are finished. */
  readonly drain: () => Promise<void>
  /** Stops the workers. Calls that are waiting or running are rejected with 503. */
  readonly close: () => Promise<void>
}

export type AnalyzeImageOptions = {
  /** Workers are assigned to projects in rotation, one call each. */
  readonly projectId: string
  /** JSON path of the image in the API request, for messages: `params.images[0]`. */
  readonly path: string
  /** Aborted when the client disconnects. A waiting call is dropped, a running one finishes. */
  readonly signal?: AbortSignal
}

export type VisionPoolStats = {
  readonly workersUp: number
  readonly workersBusy: number
  readonly queued: number
  readonly queuedBytes: number
  /** Workers lost (crash, timeout, invalid reply, kill) since the pool was opened. */
  readonly respawns: number
  /** Workers replaced because of their age or memory. */
  readonly recycled: number
  /** Calls rejected because their image had crashed workers. */
  readonly quarantined: number
}

/** The defaults of the limits are in `fixedPoolLimits`. */
export type VisionPoolOptions = VisionPoolLimitOptions & {
  readonly workers: number
  /** The folder that `prepareBuiltinPack` filled. */
  readonly modelsFolder: string
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
  readonly #queue: WorkerQueue<WorkerProcess>
  readonly #quarantine: CrashQuarantine
  readonly #supervisor: WorkerSupervisor
  readonly #accepted = new Set<Promise<ImageAnalysis>>()
  readonly #closing = new AbortController()
  #isDraining = false

  constructor(options: VisionPoolOptions) {
    const { workers, clock, log } = options
    const limits: VisionPoolLimits = { ...fixedPoolLimits, ...options }
    const queueLimits = {
      countMax: limits.queuePerWorkerMax * workers,
      bytesMax: limits.queueBytesMax,
      waitMsMax: limits.queueWaitMsMax,
    }
    this.#queue = createWorkerQueue<WorkerProcess>(queueLimits, (worker) => void worker.kill())
    this.#quarantine = createCrashQuarantine({
      crashesMax: limits.quarantineCrashesMax,
      retentionMs: limits.quarantineMs,
      key: randomBytes(32),
      clock,
    })
    this.#supervisor = superviseWorkers({
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
      onStarted: (worker) => this.#addWorker(worker),
      onReplaced: this.#queue.retire,
      signal: this.#closing.signal,
      log,
    })
  }

  async analyzeImage(
    image: EncodedImage,
    request: AnalysisRequest,
    options: AnalyzeImageOptions,
  ): Promise<ImageAnalysis> {
    if (this.#isDraining) throw unavailable('shutting down')
    const analysis = this.#analyzeQueued({ image, request, path: options.path }, options)
    this.#accepted.add(analysis)
    try {
      return await analysis
    } finally {
      this.#accepted.delete(analysis)
    }
  }

  async #analyzeQueued(
    job: AnalysisJob,
    { projectId, path, signal }: AnalyzeImageOptions,
  ): Promise<ImageAnalysis> {
    const { bytes } = job.image
    this.#quarantine.assertNotQuarantined(bytes, path)
    const worker = await withSpan('vision.queue', () =>
      this.#queue.acquire({ projectId, bytes: bytes.length }, signal),
    )
    try {
      // Checks again: a copy of this image can have crashed a worker while this call waited.
      this.#quarantine.assertNotQuarantined(bytes, path)
      return await withSpan('vision.analyze', () => worker.run(job))
    } catch (error) {
      if (!(error instanceof WorkerLostError)) throw error
      this.#quarantine.recordCrash(bytes)
      throw unavailable('processing failed, retry', 1, error)
    } finally {
      if (!worker.isLost()) this.#queue.release(worker)
    }
  }

  #addWorker(worker: WorkerProcess): void {
    void worker.exited.then(() => this.#queue.remove(worker))
    this.#queue.release(worker)
  }

  ready(): Promise<void> {
    return this.#supervisor.ready()
  }

  isReady(): boolean {
    return this.#supervisor.workers.size > 0 && !this.#isDraining
  }

  stats(): VisionPoolStats {
    const { workers, lostCount, recycledCount } = this.#supervisor
    return {
      workersUp: workers.size,
      workersBusy: [...workers].filter((worker) => worker.isBusy()).length,
      queued: this.#queue.count(),
      queuedBytes: this.#queue.bytes(),
      respawns: lostCount(),
      recycled: recycledCount(),
      quarantined: this.#quarantine.rejectedCount(),
    }
  }

  async drain(): Promise<void> {
    this.#isDraining = true
    await Promise.allSettled(this.#accepted)
  }

  async close(): Promise<void> {
    this.#isDraining = true
    this.#queue.rejectAll()
    this.#closing.abort()
    await this.#supervisor.closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
