import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { unavailable } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { withSpan } from '../../lib/observability/call-trace.ts'
import type { AnalysisRequest, ImageAnalysis } from '../image-analysis.ts'
import type { EncodedImage } from '../image/input/encoded-image.ts'
import { judgeFaces } from '../liveness/challenge/compare-frames.ts'
import type {
  AnalyzeImageOptions,
  ReserveOptions,
  VisionClient,
  VisionReservation,
} from '../vision-client.ts'
import { createCrashQuarantine, type CrashQuarantine } from './crash-quarantine.ts'
import type { AnalysisJob, WorkerStartOptions } from './ipc/messages.ts'
import { createServiceTime, WorkerQueue } from './queue/worker-queue.ts'
import { superviseWorkers, type WorkerSupervisor, type WorkerReport } from './supervisor.ts'
import {
  fixedPoolLimits,
  type VisionPoolLimitOptions,
  type VisionPoolLimits,
} from './vision-pool-limits.ts'
import { WorkerLostError } from './worker-connection.ts'
import { startWorker, type WorkerProcess } from './worker-process.ts'

/** The public members of the class: fakes implement them too. */
export type VisionPool = Pick<WorkerPool, keyof WorkerPool>

export type VisionPoolStats = ReturnType<VisionPool['stats']>

/** The defaults of the limits are in `fixedPoolLimits`. */
export type VisionPoolOptions = VisionPoolLimitOptions &
  WorkerStartOptions & {
    readonly workers: number
    readonly clock: Clock
    readonly log: Pick<Log, 'debug' | 'warn' | 'error'>
    /** The module that each child process runs; default `./worker.ts`. */
    readonly entryModule?: URL
  }

export function openVisionPool(options: VisionPoolOptions): VisionPool {
  return new WorkerPool(options)
}

/** Analyzes images in child processes, so that a hostile image cannot crash the server. */
class WorkerPool implements VisionClient, AsyncDisposable {
  readonly judgeChallenge = judgeFaces
  readonly #queue: WorkerQueue<WorkerProcess>
  readonly #quarantine: CrashQuarantine
  readonly #supervisor: WorkerSupervisor
  readonly #serviceTime = createServiceTime()
  /** The accepted calls and their running analyses. */
  readonly #accepted = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  #isDraining = false

  constructor(options: VisionPoolOptions) {
    const { workers, modelsFolder, optimizedFolder, modelSet, clock, log } = options
    const limits: VisionPoolLimits = { ...fixedPoolLimits, ...options }
    this.#queue = new WorkerQueue({
      countMax: limits.queuePerWorkerMax * workers,
      bytesMax: limits.queueBytesMax,
      waitMsMax: limits.queueWaitMsMax,
      stop: (worker) => void worker.kill(),
      estimateMs: (count) => this.#serviceTime.estimateMs(count, this.stats().workersUp),
    })
    this.#quarantine = createCrashQuarantine({
      crashesMax: limits.quarantineCrashesMax,
      kindCrashesMax: limits.quarantineKindCrashesMax,
      kindPauseMs: limits.quarantineKindPauseMs,
      retentionMs: limits.quarantineMs,
      key: randomBytes(32),
      clock,
    })
    this.#supervisor = superviseWorkers({
      workerCount: workers,
      startWorker: () =>
        startWorker({
          entryModule: options.entryModule ?? new URL('./worker.ts', import.meta.url),
          startOptions: { modelsFolder, optimizedFolder, modelSet, limits: options.limits },
          limits,
          signal: this.#closing.signal,
          log,
        }),
      onStarted: (worker) => this.#addWorker(worker),
      onReplaced: (worker) => this.#queue.retire(worker),
      signal: this.#closing.signal,
      log,
    })
  }

  async analyzeImage(image: EncodedImage, request: AnalysisRequest, options: AnalyzeImageOptions) {
    using reservation = this.reserve([image], options)
    return await reservation.analyzeImage(image, request, options)
  }

  assertRoom(
    images: readonly Pick<EncodedImage, 'bytes'>[],
    { accountId, projectId }: Pick<ReserveOptions, 'accountId' | 'projectId'>,
  ): void {
    const imageBytes = images.map(({ bytes }) => bytes.length)
    this.#queue.assertRoom({ accountId, projectId, imageBytes })
  }

  reserve(
    images: readonly Pick<EncodedImage, 'bytes'>[],
    { accountId, projectId, keyId, signal }: ReserveOptions,
  ): VisionReservation {
    if (this.#isDraining) throw unavailable('shutting down')
    const imageBytes = images.map(({ bytes }) => bytes.length)
    const places = this.#queue.reserve({ accountId, projectId, imageBytes }, signal)
    const ended = Promise.withResolvers<void>()
    void this.#addAccepted(ended.promise)
    return createVisionReservation({
      images,
      analyze: (job, index) =>
        this.#addAccepted(this.#analyze({ ...job, keyId }, () => places.acquire(index))),
      onDisposed: () => {
        places[Symbol.dispose]()
        ended.resolve()
      },
    })
  }

  #addAccepted<T>(work: Promise<T>): Promise<T> {
    this.#accepted.add(work)
    const remove = () => void this.#accepted.delete(work)
    work.then(remove, remove)
    return work
  }

  async #analyze(
    { keyId, ...job }: AnalysisJob & Pick<ReserveOptions, 'keyId'>,
    acquireWorker: () => Promise<WorkerProcess>,
  ): Promise<ImageAnalysis> {
    const sent = { ...job, keyId }
    this.#quarantine.assertNotQuarantined(sent)
    const worker = await withSpan('vision.queue', acquireWorker)
    const startMs = performance.now()
    try {
      // Checks again: a copy of this image can have crashed a worker while this call waited.
      this.#quarantine.assertNotQuarantined(sent)
      return await withSpan('vision.analyze', () => worker.run(job))
    } catch (error) {
      if (!(error instanceof WorkerLostError)) throw error
      this.#quarantine.recordCrash(sent)
      throw unavailable('processing failed, retry', 1, error)
    } finally {
      this.#serviceTime.record(performance.now() - startMs)
      this.#releaseSoon(worker)
    }
  }

  /** The call handles its result first: if it fails, its waiting images get no worker. */
  #releaseSoon(worker: WorkerProcess): void {
    setImmediate(() => {
      if (!worker.isLost()) this.#queue.release(worker)
    })
  }

  #addWorker(worker: WorkerProcess): void {
    void worker.exited.then(() => this.#queue.remove(worker))
    this.#queue.release(worker)
  }

  /**
   * Resolves when a worker can take calls. Rejects if workers repeatedly fail to start and none is
   * running; the pool still continues to retry.
   */
  ready(): Promise<void> {
    return this.#supervisor.ready()
  }

  /** Whether a worker can take calls now. */
  isReady(): boolean {
    return this.#supervisor.workers.size > 0 && !this.#isDraining
  }

  stats() {
    const { workers, lostCount, recycledCount } = this.#supervisor
    const { count, bytes } = this.#queue.size
    return {
      workersUp: workers.size,
      workersBusy: [...workers].filter((worker) => worker.isBusy()).length,
      queued: count,
      queuedBytes: bytes,
      /** Workers lost (crash, timeout, invalid reply, kill) since the pool was opened. */
      respawns: lostCount(),
      /** Workers replaced because of their age or memory. */
      recycled: recycledCount(),
      /** Calls rejected because their image had crashed workers. */
      quarantined: this.#quarantine.rejectedCount(),
    }
  }

  /** The health of each worker, in a fixed order. */
  workerReports(): readonly WorkerReport[] {
    return this.#supervisor.reports()
  }

  /** Rejects new calls with 503 and resolves when all accepted calls are finished. */
  async drain(): Promise<void> {
    this.#isDraining = true
    while (this.#accepted.size > 0) await Promise.allSettled(this.#accepted)
  }

  /** Stops the workers. Calls that are waiting or running are rejected with 503. */
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

type VisionReservationOptions = {
  readonly images: readonly Pick<EncodedImage, 'bytes'>[]
  /** Runs the job in the place with this index. */
  readonly analyze: (job: AnalysisJob, index: number) => Promise<ImageAnalysis>
  /** Called once, when the reservation is disposed. */
  readonly onDisposed: () => void
}

/** Distributes reserved places to the images of one call. */
function createVisionReservation({
  images,
  analyze,
  onDisposed,
}: VisionReservationOptions): VisionReservation {
  // Places of images of one size are interchangeable.
  const unused = images.map(({ bytes }, index) => ({ size: bytes.length, index }))
  const disposed = Promise.withResolvers<never>()
  // An analysis that has ended does not await the promise.
  disposed.promise.catch(() => undefined)
  let runningCount = 0

  const analyzeImage: VisionReservation['analyzeImage'] = async (image, request, { path }) => {
    const position = unused.findIndex(({ size }) => size === image.bytes.length)
    const [place] = position < 0 ? [] : unused.splice(position, 1)
    if (!place) throw new Error(`${path}: no place was reserved for this image`)
    runningCount += 1
    const analysis = analyze({ image, request, path }, place.index).finally(() => {
      runningCount -= 1
    })
    return Promise.race([disposed.promise, analysis])
  }

  function dispose(): void {
    // The stack trace of an error takes longer than the rest of this function.
    if (runningCount > 0) disposed.reject(new Error('the call has ended'))
    onDisposed()
  }

  const assertRoom = () => undefined
  const client = { analyzeImage, assertRoom, judgeChallenge: judgeFaces }
  const reserve = () => ({ ...client, reserve, [Symbol.dispose]: () => undefined })
  return { ...client, reserve, [Symbol.dispose]: dispose }
}
