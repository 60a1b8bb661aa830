import { randomBytes } from 'node:crypto'

import type { Clock } from '../../lib/clock.ts'
import { unavailable } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { span } from '../../lib/trace.ts'
import type { ModelSet } from '../../models/pack.ts'
import { startChild } from './child.ts'
import type { Child } from './child.ts'
import { keepCrew } from './crew.ts'
import type { Crew } from './crew.ts'
import type { Job } from './job.ts'
import { WorkerLost } from './line.ts'
import { createPoisonMemory } from './poison.ts'
import type { PoisonMemory } from './poison.ts'
import { poolLimits } from './pool-limits.ts'
import type { PoolLimits } from './pool-limits.ts'
import { createTurns } from './turns.ts'
import type { Turns } from './turns.ts'
import type { Look, Picture, PictureLimits, View } from '../view.ts'

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
  /** Workers lost (crash, hang, garbage, kill) since the pool was opened. */
  readonly respawns: number
  /** Workers replaced because of their age or growth. */
  readonly recycled: number
  /** Calls refused because their picture had killed workers. */
  readonly poisoned: number
}

/** What is left out of the limits takes its default from `poolLimits`. */
export type PoolOptions = Partial<PoolLimits> & {
  readonly workers: number
  /** The folder that `preparePack` filled. */
  readonly modelsFolder: string
  /** Which models the workers look with. */
  readonly set: ModelSet
  readonly limits: PictureLimits
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'warn' | 'error'>
  /** The module that each child process runs; default `./worker.ts`. */
  readonly entry?: URL
}

export function openPool(options: PoolOptions): VisionPool {
  return new Pool(options)
}

class Pool implements VisionPool {
  readonly #turns: Turns<Child>
  readonly #poison: PoisonMemory
  readonly #crew: Crew
  readonly #accepted = new Set<Promise<View>>()
  readonly #closing = new AbortController()
  #isDraining = false

  constructor(options: PoolOptions) {
    const { workers, clock, log } = options
    const limits: PoolLimits = { ...poolLimits, ...options }
    const turnLimits = {
      countMax: limits.queuePerWorkerMax * workers,
      bytesMax: limits.queueBytesMax,
      waitMsMax: limits.queueWaitMsMax,
    }
    this.#turns = createTurns<Child>(turnLimits, (child) => void child.end())
    this.#poison = createPoisonMemory({
      killsMax: limits.poisonKillsMax,
      memoryMs: limits.poisonMemoryMs,
      key: randomBytes(32),
      clock,
    })
    this.#crew = keepCrew({
      seats: workers,
      start: () =>
        startChild({
          entry: options.entry ?? new URL('worker.ts', import.meta.url),
          start: { modelsFolder: options.modelsFolder, set: options.set, limits: options.limits },
          limits,
          signal: this.#closing.signal,
          log,
        }),
      admit: (child) => this.#admit(child),
      dismiss: this.#turns.dismiss,
      signal: this.#closing.signal,
      log,
    })
  }

  async look(picture: Picture, look: Look, call: VisionCall): Promise<View> {
    if (this.#isDraining) throw unavailable('shutting down')
    const view = this.#lookInTurn({ picture, look, path: call.path }, call)
    this.#accepted.add(view)
    try {
      return await view
    } finally {
      this.#accepted.delete(view)
    }
  }

  async #lookInTurn(job: Job, { projectId, path, signal }: VisionCall): Promise<View> {
    const { bytes } = job.picture
    this.#poison.refuse(bytes, path)
    const child = await span('vision.queue', () =>
      this.#turns.take({ projectId, bytes: bytes.length }, signal),
    )
    try {
      // Once more: a twin of this picture may have killed a worker while this one waited.
      this.#poison.refuse(bytes, path)
      return await span('vision.work', () => child.run(job))
    } catch (error) {
      if (!(error instanceof WorkerLost)) throw error
      this.#poison.strike(bytes)
      throw unavailable('processing failed, retry', 1, error)
    } finally {
      if (!child.isLost()) this.#turns.give(child)
    }
  }

  #admit(child: Child): void {
    void child.gone.then(() => this.#turns.forget(child))
    this.#turns.give(child)
  }

  ready(): Promise<void> {
    return this.#crew.ready()
  }

  isReady(): boolean {
    return this.#crew.up.size > 0 && !this.#isDraining
  }

  stats(): PoolStats {
    return {
      workersUp: this.#crew.up.size,
      workersBusy: [...this.#crew.up].filter((child) => child.isBusy()).length,
      queued: this.#turns.count(),
      queuedBytes: this.#turns.bytes(),
      respawns: this.#crew.lostCount(),
      recycled: this.#crew.wornCount(),
      poisoned: this.#poison.refusedCount(),
    }
  }

  async drain(): Promise<void> {
    this.#isDraining = true
    await Promise.allSettled(this.#accepted)
  }

  async close(): Promise<void> {
    this.#isDraining = true
    this.#turns.refuseAll()
    this.#closing.abort()
    await this.#crew.closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
