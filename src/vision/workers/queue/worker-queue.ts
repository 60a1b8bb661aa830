import { unavailable, type HttpError } from '../../../lib/errors.ts'
import {
  FairQueue,
  type QueueCall,
  type QueueOwner,
  type QueueBounds,
  type QueueImage,
  type QueueSize,
} from './fair-queue.ts'

type CallImages = QueueOwner & {
  /** The size of each image. */
  readonly imageBytes: readonly number[]
}

export type WorkerQueueOptions<Worker> = QueueBounds & {
  /** The longest time from the reservation of a call until its last image has a worker. */
  readonly waitMsMax: number
  /** Called with each retired worker once it is free. */
  readonly stop: (worker: Worker) => void
  /** Returns the time in which the workers, all of them busy, start this number of images. */
  readonly estimateMs: (imageCount: number) => number
}

type PendingImage<Worker> = QueueImage & PromiseWithResolvers<Worker> & { isAssigned: boolean }
type PendingCall<Worker> = QueueCall<PendingImage<Worker>>

/** Assigns free workers to the images of waiting calls. */
export class WorkerQueue<Worker extends object> {
  readonly #options: WorkerQueueOptions<Worker>
  readonly #free = new Set<Worker>()
  readonly #retired = new WeakSet<Worker>()
  readonly #queue: FairQueue<PendingImage<Worker>, PendingCall<Worker>>
  /** The calls that have not ended, with the function that stops watching them. */
  readonly #reserved = new Map<PendingCall<Worker>, () => void>()

  constructor(options: WorkerQueueOptions<Worker>) {
    this.#options = options
    this.#queue = new FairQueue(options)
  }

  /** @throws HttpError 503 if `reserve` would reject this call now. */
  assertRoom({ imageBytes, ...owner }: CallImages): void {
    const call = { ...owner, images: imageBytes.map((bytes) => ({ bytes })) }
    if (!this.#queue.accepts(call)) throw this.#overloadedError('the queue is full', call)
  }

  /**
   * Reserves a place for every image of a call.
   *
   * @param signal cancels the reservation when it is aborted.
   * @returns the places. Disposing them cancels the images that have no worker yet.
   * @throws HttpError 503 if there is no room for all images. Nothing is reserved then.
   * @throws the reason of `signal` if it is already aborted.
   */
  reserve(images: CallImages, signal?: AbortSignal) {
    signal?.throwIfAborted()
    const call = createPendingCall<Worker>(images)
    const { isAccepted, evicted } = this.#queue.offer(call)
    if (!isAccepted) throw this.#overloadedError('the queue is full', call)
    for (const other of evicted)
      this.#cancel(other, () =>
        this.#overloadedError('evicted for an account or project with a smaller share', other),
      )
    this.#reserved.set(call, this.#watch(call, signal))
    return {
      /**
       * Resolves with a worker for the image with this index; the worker must be released afterwards.
       *
       * @throws HttpError 503 if the call was evicted or has waited too long.
       * @throws the reason of the signal if it was aborted while the image waited.
       */
      acquire: (index: number) => this.#acquire(call, index),
      [Symbol.dispose]: () => this.#cancel(call, () => new Error('the call has ended')),
    }
  }

  /** Assigns a free worker to the next image. */
  release(worker: Worker): void {
    if (this.#retired.has(worker)) return this.#options.stop(worker)
    this.#free.add(worker)
    this.#assignWorkers()
  }

  /** Stops a worker as soon as it is free. */
  retire(worker: Worker): void {
    if (this.#free.delete(worker)) this.#options.stop(worker)
    else this.#retired.add(worker)
  }

  /** Removes a worker that has exited. */
  remove(worker: Worker): void {
    this.#free.delete(worker)
  }

  /** Rejects all waiting calls. */
  rejectAll(): void {
    for (const call of this.#reserved.keys()) this.#cancel(call, () => unavailable('shutting down'))
  }

  /** Number and bytes of the reserved places. */
  get size(): QueueSize {
    return this.#queue.size
  }

  #acquire(call: PendingCall<Worker>, index: number): Promise<Worker> {
    const image = call.images[index]
    if (!image) throw new RangeError(`image ${index} was not reserved`)
    this.#queue.submit(call, image)
    this.#assignWorkers()
    return image.promise
  }

  #assignWorkers(): void {
    for (const worker of this.#free) {
      const image = this.#queue.take()
      if (!image) return
      this.#free.delete(worker)
      image.isAssigned = true
      image.resolve(worker)
    }
  }

  /** Cancels the call after the longest wait, or when the signal aborts, until it is stopped. */
  #watch(call: PendingCall<Worker>, signal: AbortSignal | undefined): () => void {
    const onAbort = () => this.#cancel(call, () => signal?.reason)
    const onTimeout = () =>
      this.#cancel(call, () => this.#overloadedError('the wait was too long', call))
    const timer = setTimeout(onTimeout, this.#options.waitMsMax)
    signal?.addEventListener('abort', onAbort)
    return () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Removes the images that have no worker yet, and then rejects them. */
  #cancel(call: PendingCall<Worker>, createReason: () => unknown): void {
    this.#queue.remove(call)
    this.#reserved.get(call)?.()
    this.#reserved.delete(call)
    const waiting = call.images.filter(({ isAssigned }) => !isAssigned)
    if (waiting.length === 0) return
    const reason = createReason()
    for (const image of waiting) image.reject(reason)
  }

  /** The client may retry when there is room for this call, if no other calls arrive first. */
  #overloadedError(reason: string, call: QueueCall<QueueImage>): HttpError {
    const waitMs = this.#options.estimateMs(this.#queue.imagesUntilRoom(call))
    const detail = `too many concurrent calls, ${reason}; retry`
    return unavailable(detail, Math.max(1, Math.ceil(waitMs / 1000)))
  }
}

function createPendingCall<Worker>({ imageBytes, ...owner }: CallImages): PendingCall<Worker> {
  const images = imageBytes.map((bytes) => ({
    bytes,
    isAssigned: false,
    ...Promise.withResolvers<Worker>(),
  }))
  // An image can be cancelled before its worker is awaited.
  for (const { promise } of images) promise.catch(() => undefined)
  return { ...owner, images }
}

/** The estimate before the first measurement. */
const initialMs = 200

/** The weight of one measurement in the moving average. */
const weight = 1 / 8

/** Measures how long the workers take for an image. */
export function createServiceTime() {
  let averageMs = initialMs
  return {
    /** Records that a worker was occupied by one image for that long. */
    record: (durationMs: number): void => {
      averageMs += (durationMs - averageMs) * weight
    },
    /** Returns the time in which `workerCount` busy workers start that many images. */
    estimateMs: (imageCount: number, workerCount: number): number =>
      Math.ceil(imageCount / Math.max(1, workerCount)) * averageMs,
  }
}
