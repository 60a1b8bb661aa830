import { setTimeout as sleep } from 'node:timers/promises'
import { HttpError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { findFacesToReEmbed } from '../../store/gallery/crops.ts'
import type { Store } from '../../store/database.ts'
import { listGalleryIds } from '../../store/gallery/galleries.ts'
import { findModelCoverage } from '../../store/gallery/model-coverage.ts'
import type { ReadTx } from '../../store/tx.ts'
import { reEmbedFace } from './re-embed-face.ts'
import type { CropVisionClient, ReEmbedFaceOptions, ReEmbedOutcome } from './re-embed-face.ts'

/** The vision workers, which also serve calls. */
export type ReEmbedVisionClient = CropVisionClient & {
  /** Whether no call waits for a worker. */
  readonly isIdle: () => boolean
}

export type ReEmbedResult = {
  /** Faces that have a template of the active model now. */
  readonly succeeded: number
  /** Faces whose crop shows nobody, or somebody else than their templates. */
  readonly failed: number
}

/** Makes templates of the active model of all stored crops; stops early when the signal fires. */
export type ReEmbed = (eyes: ReEmbedVisionClient, signal: AbortSignal) => Promise<ReEmbedResult>

export type ReEmbedOptions = ReEmbedFaceOptions & {
  readonly log: Pick<Log, 'info'>
}

/** Faces listed at a time; each is read, looked at and written by itself. */
const faceBatchSize = 200
/** Faces between two lines of progress in the log. */
const facesPerLogLine = 1_000
/** How long live calls go first before one crop takes its turn among them, ms. */
const idleWaitMsMax = 10_000
const idlePollMs = 50
/** Pause after the workers had no time for a crop, ms. */
const busyPauseMs = 1_000

/**
 * A job without state of its own: what is left to do is what the rows lack, so that it can be ended
 * at any moment and goes on at the next start. It writes one face a transaction, and nothing to a
 * face that was deleted or whose crop was since it looked.
 */
export function createReEmbed(options: ReEmbedOptions): ReEmbed {
  const { store, calibrations, search, log } = options
  const modelId = calibrations.activeModelId
  return async (eyes, signal) => {
    let [made, failed] = [0, 0]
    const total = await store.read((reading) => countToReEmbed(reading, modelId))
    if (total > 0) log.info({ modelId, total }, 'templates are made anew of stored crops')
    for await (const faceId of faceIdsOf(store, modelId)) {
      if (signal.aborted) break
      const outcome = await reEmbedWhenIdle(options, faceId, eyes, signal)
      if (outcome === 'made') made += 1
      if (outcome === 'failed') failed += 1
      if ((made + failed) % facesPerLogLine === 0 && outcome !== 'gone')
        log.info({ modelId, made, failed, total }, 'templates are being made anew')
    }
    // Searches that follow need not be described by former models for these faces' sake.
    if (made > 0)
      for (const galleryId of await store.read(listGalleryIds)) await search.sync(galleryId)
    if (total > 0) log.info({ modelId, made, failed, total }, 'templates were made anew')
    return { succeeded: made, failed }
  }
}

/** Counting takes a look at every face: only where there is something to count. */
async function countToReEmbed(reading: ReadTx, modelId: string): Promise<number> {
  const some = await findFacesToReEmbed(reading, { modelId, afterFaceId: '', limit: 1 })
  return some.length === 0 ? 0 : (await findModelCoverage(reading, modelId)).remakeableFaces
}

async function* faceIdsOf(store: Store, modelId: string): AsyncGenerator<string> {
  for (let afterFaceId = ''; ;) {
    const lacking = { modelId, afterFaceId, limit: faceBatchSize }
    const faceIds = await store.read((reading) => findFacesToReEmbed(reading, lacking))
    yield* faceIds
    const last = faceIds.at(-1)
    if (last === undefined) return
    afterFaceId = last
  }
}

/** Live calls go first; a crop that found no worker is tried again. */
async function reEmbedWhenIdle(
  options: ReEmbedOptions,
  faceId: string,
  eyes: ReEmbedVisionClient,
  signal: AbortSignal,
): Promise<ReEmbedOutcome> {
  for (;;) {
    for (let ms = 0; ms < idleWaitMsMax && !eyes.isIdle(); ms += idlePollMs)
      if (!(await pause(idlePollMs, signal))) return 'gone'
    try {
      return await reEmbedFace(options, faceId, eyes)
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
