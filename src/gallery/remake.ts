import { setTimeout as sleep } from 'node:timers/promises'
import { HttpError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { facesToRemake } from '../store/crops.ts'
import type { Store } from '../store/database.ts'
import { listGalleryIds } from '../store/galleries.ts'
import { progressOf } from '../store/model-counts.ts'
import type { Reading } from '../store/tx.ts'
import { remakeFace } from './remake-face.ts'
import type { CropEyes, RemakeFaceOptions, RemakeOutcome } from './remake-face.ts'

/** The vision workers, which also serve calls. */
export type Eyes = CropEyes & {
  /** Whether no call waits for a worker. */
  readonly isIdle: () => boolean
}

export type Remade = {
  /** Faces that have a template of the active model now. */
  readonly made: number
  /** Faces whose crop shows nobody, or somebody else than their templates. */
  readonly failed: number
}

/** Makes templates of the active model of all stored crops; stops early when the signal fires. */
export type Remake = (eyes: Eyes, signal: AbortSignal) => Promise<Remade>

export type RemakeOptions = RemakeFaceOptions & {
  readonly log: Pick<Log, 'info'>
}

/** Faces listed at a time; each is read, looked at and written by itself. */
const facesAtATime = 200
/** Faces between two lines of progress in the log. */
const facesPerLine = 1_000
/** How long live calls go first before one crop takes its turn among them, ms. */
const politeMsMax = 10_000
const politeStepMs = 50
/** Pause after the workers had no time for a crop, ms. */
const busyPauseMs = 1_000

/**
 * A job without state of its own: what is left to do is what the rows lack, so that it can be ended
 * at any moment and goes on at the next start. It writes one face a transaction, and nothing to a
 * face that was deleted or whose crop was since it looked.
 */
export function createRemake(options: RemakeOptions): Remake {
  const { store, calibrations, search, log } = options
  const modelId = calibrations.activeModelId
  return async (eyes, signal) => {
    let [made, failed] = [0, 0]
    const total = await store.read((reading) => countToRemake(reading, modelId))
    if (total > 0) log.info({ modelId, total }, 'templates are made anew of stored crops')
    for await (const faceId of faceIdsOf(store, modelId)) {
      if (signal.aborted) break
      const outcome = await remakeWhenFree(options, faceId, eyes, signal)
      if (outcome === 'made') made += 1
      if (outcome === 'failed') failed += 1
      if ((made + failed) % facesPerLine === 0 && outcome !== 'gone')
        log.info({ modelId, made, failed, total }, 'templates are being made anew')
    }
    // Searches that follow need not be described by former models for these faces' sake.
    if (made > 0)
      for (const galleryId of await store.read(listGalleryIds)) await search.follow(galleryId)
    if (total > 0) log.info({ modelId, made, failed, total }, 'templates were made anew')
    return { made, failed }
  }
}

/** Counting takes a look at every face: only where there is something to count. */
async function countToRemake(reading: Reading, modelId: string): Promise<number> {
  const some = await facesToRemake(reading, { modelId, afterFaceId: '', limit: 1 })
  return some.length === 0 ? 0 : (await progressOf(reading, modelId)).remakeableFaces
}

async function* faceIdsOf(store: Store, modelId: string): AsyncGenerator<string> {
  for (let afterFaceId = ''; ;) {
    const lacking = { modelId, afterFaceId, limit: facesAtATime }
    const faceIds = await store.read((reading) => facesToRemake(reading, lacking))
    yield* faceIds
    const last = faceIds.at(-1)
    if (last === undefined) return
    afterFaceId = last
  }
}

/** Live calls go first; a crop that found no worker is tried again. */
async function remakeWhenFree(
  options: RemakeOptions,
  faceId: string,
  eyes: Eyes,
  signal: AbortSignal,
): Promise<RemakeOutcome> {
  for (;;) {
    for (let ms = 0; ms < politeMsMax && !eyes.isIdle(); ms += politeStepMs)
      if (!(await pause(politeStepMs, signal))) return 'gone'
    try {
      return await remakeFace(options, faceId, eyes)
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      if (!(await pause(busyPauseMs, signal))) return 'gone'
    }
  }
}

/** @returns false when the signal fired. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  try {
    await sleep(ms, undefined, { signal, ref: false })
    return true
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}
