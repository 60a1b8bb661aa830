import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import type { Log } from '../../../lib/log.ts'
import type { PackedRows } from '../load/packed-rows.ts'
import { packChanges, type IndexChange } from './index-change.ts'
import type { GalleryIndexState, GalleryLoad, IndexSize } from './gallery-indexes.ts'
import { limitMax, type IndexSearchOptions, type ScoredSubject } from '../scored-subject.ts'
import { assertTemplateVector, type TemplateVector } from '../../calibration/similarity.ts'
import { openSearchThreads, type SearchThreads } from './search-threads.ts'

/** Only templates of this model are compared; scores of different models have different scales. */
export type ModelSearchOptions = IndexSearchOptions & { readonly modelId: string }

export type ExactSearchOptions = {
  /** Threads that scan a large gallery together; one per core by default. Small ones use one. */
  readonly threads?: number
  readonly log: Pick<Log, 'info' | 'error'>
}

/** Changes packed in one step: about 200 µs of the event loop at 256 dimensions. */
const changeBatchSize = 256

export function openExactSearch({ threads, log }: ExactSearchOptions): ExactSearch {
  const count = threads ?? availableParallelism()
  assert.ok(count >= 1)
  return new ExactSearch(openSearchThreads(count, log))
}

/**
 * Exact search over the subjects of galleries, one template each. Separate threads hold the templates in memory; the
 * event loop only sends requests and receives results. The results are the same as if every template
 * were scored in float32. The index is a copy: it is filled from the store and kept in sync with it.
 */
export class ExactSearch implements AsyncDisposable {
  readonly #threads: SearchThreads
  readonly #states = new Map<string, GalleryIndexState>()
  /** Gallery → its last queued apply or drop, which the next one waits for. */
  readonly #lastTasks = new Map<string, Promise<void>>()
  readonly #dimensions = new Map<string, number>()

  constructor(threads: SearchThreads) {
    this.#threads = threads
  }

  /**
   * Applies changes in order and resolves when every later search includes them. Changes older than
   * the gallery's sequence are skipped, so they can be repeated. Removed templates are zeroed before
   * it resolves. Calls for one gallery run in the order in which they were made.
   */
  apply(galleryId: string, changes: readonly IndexChange[]): Promise<void> {
    return this.#enqueue(galleryId, async () => {
      for (let from = 0; from < changes.length; from += changeBatchSize)
        await this.#applyBatch(galleryId, changes.slice(from, from + changeBatchSize))
    })
  }

  async #applyBatch(galleryId: string, changes: readonly IndexChange[]): Promise<void> {
    for (const template of changes.flatMap(({ templates }) => templates))
      this.#checkDimensions(template)
    const packed = packChanges(changes)
    const request = { kind: 'apply', galleryId, packed } as const
    this.#states.set(galleryId, await this.#threads.send(request, [packed.vectors.buffer]))
  }

  /**
   * Adds templates of subjects that are not in the index. Calls may run at the same time, because
   * each adds other subjects; `apply` must wait for them. The bytes are transferred.
   */
  async load(galleryId: string, packed: readonly PackedRows[], load: GalleryLoad): Promise<void> {
    for (const { header } of packed)
      for (const { modelId, dimensions } of header.sections)
        this.#checkDimensions({ modelId, vector: { length: dimensions } })
    const request = { kind: 'load', galleryId, packed, load } as const
    const buffers = packed.map(({ bytes }) => bytes)
    this.#states.set(galleryId, await this.#threads.send(request, buffers))
  }

  #checkDimensions({ modelId, vector }: DimensionsOwner): void {
    const dimensions = this.#dimensions.get(modelId) ?? vector.length
    assert.equal(vector.length, dimensions, 'all vectors of a model have the same dimensions')
    this.#dimensions.set(modelId, dimensions)
  }

  /** Returns the subjects most similar to the probe, best first. */
  async search(
    galleryId: string,
    probe: TemplateVector,
    { modelId, ...options }: ModelSearchOptions,
  ): Promise<ScoredSubject[]> {
    assertTemplateVector(probe)
    const { limit } = options
    assert.ok(Number.isInteger(limit) && limit >= 1 && limit <= limitMax)
    // A copy, because transferring a view would transfer its whole buffer.
    const vector = probe.vector.slice()
    const query = { modelId, probe: { vector, density: probe.density }, options }
    const request = { kind: 'search', galleryId, query } as const
    return [...(await this.#threads.send(request, [vector.buffer]))]
  }

  /** Returns the sequence of the last applied change; 0 for a gallery that is not in the index. */
  sequenceOf(galleryId: string): number {
    return this.#states.get(galleryId)?.sequence ?? 0
  }

  /** Returns the number of rows and of faces in the index, of all models or of one. */
  size(galleryId: string, modelId?: string): IndexSize {
    const sizes = this.#states.get(galleryId)?.sizes ?? new Map<string, IndexSize>()
    if (modelId !== undefined) return sizes.get(modelId) ?? { rows: 0, faces: 0 }
    return sumOf(sizes)
  }

  /** Returns the dimensions of a model's vectors; undefined before its first vector. */
  dimensions(modelId: string): number | undefined {
    return this.#dimensions.get(modelId)
  }

  /** Removes a gallery immediately and resolves when all its data has been zeroed. */
  drop(galleryId: string): Promise<void> {
    return this.#enqueue(galleryId, async () => {
      this.#states.delete(galleryId)
      await this.#threads.send({ kind: 'drop', galleryId })
    })
  }

  /** Returns the galleries, their rows, and the memory of these inside and outside the shared memory. */
  stats() {
    let rows = 0
    let bytes = 0
    for (const state of this.#states.values()) {
      rows += sumOf(state.sizes).rows
      bytes += state.bytes
    }
    return { galleries: this.#states.size, rows, bytes }
  }

  /** Ends the threads and frees their memory. Pending requests reject. */
  close(): Promise<void> {
    return this.#threads.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Runs a task after all earlier tasks of its gallery have ended, even if they failed. */
  #enqueue(galleryId: string, run: () => Promise<void>): Promise<void> {
    const previous = this.#lastTasks.get(galleryId) ?? Promise.resolve()
    const task = previous.then(run, run)
    this.#lastTasks.set(galleryId, task)
    const remove = (): void => {
      if (this.#lastTasks.get(galleryId) === task) this.#lastTasks.delete(galleryId)
    }
    task.then(remove, remove)
    return task
  }
}

type DimensionsOwner = { readonly modelId: string; readonly vector: { readonly length: number } }

function sumOf(sizes: GalleryIndexState['sizes']): IndexSize {
  let [rows, faces] = [0, 0]
  for (const size of sizes.values()) {
    rows += size.rows
    faces += size.faces
  }
  return { rows, faces }
}
