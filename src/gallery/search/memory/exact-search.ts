import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import type { Log } from '../../../lib/log.ts'
import { packChanges, type IndexChange } from './index-change.ts'
import type { GalleryIndexState } from './gallery-indexes.ts'
import { limitMax, type ScoredSubject, type SearchOptions } from '../scored-subject.ts'
import { assertTemplateVector, type TemplateVector } from '../../calibration/score.ts'
import { startSearchThreads } from './search-threads.ts'
import type { SearchThreads } from './search-threads.ts'

/**
 * Exact search over the templates of galleries, held in memory by threads of their own: the event
 * loop only posts questions and receives answers. Its results are those of scoring every template
 * in float32. A copy, never the truth: it is filled from the store and follows its changes.
 */
export type ExactSearch = AsyncDisposable & {
  /**
   * Applies changes in order and resolves when every later search sees them. Changes older than
   * the gallery's sequence are passed over, so that repeating them does no harm. Removed templates
   * are zeroed before it resolves. Calls for one gallery are carried out in the order of the calls.
   */
  readonly apply: (galleryId: string, changes: readonly IndexChange[]) => Promise<void>
  /** The subjects most like the probe, best first, each by its best template of the model. */
  readonly search: (
    galleryId: string,
    probe: TemplateVector,
    options: ModelSearchOptions,
  ) => Promise<ScoredSubject[]>
  /** Sequence of the last change applied; 0 for a gallery that is not held. */
  readonly sequenceOf: (galleryId: string) => number
  /** Templates held: all of them, or those of one model. */
  readonly size: (galleryId: string, modelId?: string) => number
  /** Dimensions of a model's vectors, once the first has been seen. */
  readonly dimensions: (modelId: string) => number | undefined
  /** Forgets a gallery at once and resolves when all it held has been zeroed. */
  readonly drop: (galleryId: string) => Promise<void>
  readonly stats: () => SearchStats
  /** Ends the threads and with them the memory; what is still asked rejects. */
  readonly close: () => Promise<void>
}

/** Templates of other models are never compared: their scores would mean nothing. */
export type ModelSearchOptions = SearchOptions & { readonly modelId: string }

export type SearchStats = {
  readonly galleries: number
  readonly rows: number
  /** Memory that rows take, in the index and beside it. */
  readonly bytes: number
}

export type ExactSearchOptions = {
  /** Threads that scan a large gallery together; default one a core. Small ones take one. */
  readonly threads?: number
  readonly log: Pick<Log, 'info' | 'error'>
}

/** Changes packed at a time: some 200 µs of the event loop at 256 dimensions. */
const changeBatchSize = 256

export function openExactSearch({ threads, log }: ExactSearchOptions): ExactSearch {
  const count = threads ?? availableParallelism()
  assert.ok(count >= 1)
  return new ThreadedExactSearch(startSearchThreads(count, log))
}

class ThreadedExactSearch implements ExactSearch {
  readonly #threads: SearchThreads
  readonly #states = new Map<string, GalleryIndexState>()
  /** Gallery → its last apply or drop, which the next one waits for. */
  readonly #tails = new Map<string, Promise<void>>()
  readonly #dimensions = new Map<string, number>()

  constructor(threads: SearchThreads) {
    this.#threads = threads
  }

  apply(galleryId: string, changes: readonly IndexChange[]): Promise<void> {
    return this.#inTurn(galleryId, async () => {
      for (let from = 0; from < changes.length; from += changeBatchSize)
        await this.#applySome(galleryId, changes.slice(from, from + changeBatchSize))
    })
  }

  async #applySome(galleryId: string, changes: readonly IndexChange[]): Promise<void> {
    for (const { template } of changes) if (template) this.#checkDimensions(template)
    const packed = packChanges(changes)
    const request = { kind: 'apply', galleryId, packed } as const
    this.#states.set(galleryId, await this.#threads.send(request, [packed.vectors.buffer]))
  }

  #checkDimensions({ modelId, vector }: { modelId: string; vector: Float32Array }): void {
    const dimensions = this.#dimensions.get(modelId) ?? vector.length
    assert.equal(vector.length, dimensions, 'all vectors of a model have the same dimensions')
    this.#dimensions.set(modelId, dimensions)
  }

  async search(
    galleryId: string,
    probe: TemplateVector,
    options: ModelSearchOptions,
  ): Promise<ScoredSubject[]> {
    const { modelId, ...rest } = options
    assertTemplateVector(probe)
    assert.ok(Number.isInteger(rest.limit) && rest.limit >= 1 && rest.limit <= limitMax)
    // A copy: a view would take its whole buffer with it to the other thread.
    const vector = probe.vector.slice()
    const query = { modelId, probe: { vector, density: probe.density }, options: rest }
    const request = { kind: 'search', galleryId, query } as const
    return [...(await this.#threads.send(request, [vector.buffer]))]
  }

  sequenceOf(galleryId: string): number {
    return this.#states.get(galleryId)?.sequence ?? 0
  }

  size(galleryId: string, modelId?: string): number {
    const state = this.#states.get(galleryId)
    if (!state) return 0
    return modelId === undefined ? rowsOf(state) : (state.sizes.get(modelId) ?? 0)
  }

  dimensions(modelId: string): number | undefined {
    return this.#dimensions.get(modelId)
  }

  drop(galleryId: string): Promise<void> {
    return this.#inTurn(galleryId, async () => {
      this.#states.delete(galleryId)
      await this.#threads.send({ kind: 'drop', galleryId })
    })
  }

  stats(): SearchStats {
    let rows = 0
    let bytes = 0
    for (const state of this.#states.values()) {
      rows += rowsOf(state)
      bytes += state.bytes
    }
    return { galleries: this.#states.size, rows, bytes }
  }

  close(): Promise<void> {
    return this.#threads.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Runs a task when those of its gallery before it are over, however they ended. */
  #inTurn(galleryId: string, task: () => Promise<void>): Promise<void> {
    const before = this.#tails.get(galleryId) ?? Promise.resolve()
    const turn = before.then(task, task)
    this.#tails.set(galleryId, turn)
    const forget = (): void => {
      if (this.#tails.get(galleryId) === turn) this.#tails.delete(galleryId)
    }
    turn.then(forget, forget)
    return turn
  }
}

function rowsOf({ sizes }: GalleryIndexState): number {
  let rows = 0
  for (const size of sizes.values()) rows += size
  return rows
}
