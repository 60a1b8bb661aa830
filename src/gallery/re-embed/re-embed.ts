import { setTimeout as sleep } from 'node:timers/promises'
import { HttpError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { findFacesToReEmbed } from '../../store/gallery/crops.ts'
import type { ReadTx, Store } from '../../store/database.ts'
import { listGalleryIds } from '../../store/gallery/galleries.ts'
import { findModelCoverage } from '../../store/gallery/model-coverage.ts'
import { reEmbedFace } from './re-embed-face.ts'
import type { CropVisionClient, ReEmbedFaceOptions, ReEmbedOutcome } from './re-embed-face.ts'

/** The vision workers, which also serve calls. */
export type ReEmbedVisionClient = CropVisionClient & {
  /** Whether no call waits for a worker. */
  readonly isIdle: () => boolean
}

export type ReEmbedOptions = ReEmbedFaceOptions & {
  readonly log: Pick<Log, 'info'>
}

/** Faces per query; each face is then processed in separate transactions. */
const faceBatchSize = 200
/** Faces between two progress lines in the log. */
const facesPerLogLine = 1_000
/** Longest time that a crop waits for an idle worker queue before it is queued with the calls. */
const idleWaitMsMax = 10_000
const idlePollMs = 50
/** Pause after the workers had no capacity for a crop. */
const busyPauseMs = 1_000

/**
 * Creates templates of the active model from all stored crops; stops if the signal aborts.
 *
 * The job stores no state: the rows themselves show what is left to do. It can therefore be
 * interrupted at any time, and the next start continues. Each face is written in one transaction.
 *
 * The job returns how many faces `succeeded`: they now have a template of the active model. The crops of
 * the `failed` ones show no face, or a different face than their templates.
 */
export function createReEmbed(options: ReEmbedOptions) {
  const { store, calibrations, search, log } = options
  const modelId = calibrations.activeModelId
  return async (vision: ReEmbedVisionClient, signal: AbortSignal) => {
    let [succeeded, failed] = [0, 0]
    const total = await store.read((reading) => countFacesToReEmbed(reading, modelId))
    if (total > 0) log.info({ modelId, total }, 'creating templates from stored crops')
    for await (const faceId of faceIdsToReEmbed(store, modelId)) {
      if (signal.aborted) break
      const outcome = await reEmbedWhenIdle(options, faceId, vision, signal)
      if (outcome === 'reEmbedded') succeeded += 1
      if (outcome === 'failed') failed += 1
      if ((succeeded + failed) % facesPerLogLine === 0 && outcome !== 'skipped')
        log.info({ modelId, succeeded, failed, total }, 'creating templates from stored crops')
    }
    // Later searches then need no probes of former models for these faces.
    if (succeeded > 0)
      for (const galleryId of await store.read(listGalleryIds)) await search.sync(galleryId)
    if (total > 0)
      log.info({ modelId, succeeded, failed, total }, 'created templates from stored crops')
    return { succeeded, failed }
  }
}

/** The count reads every face, so it is made only if there is at least one to process. */
async function countFacesToReEmbed(reading: ReadTx, modelId: string): Promise<number> {
  const faceIds = await findFacesToReEmbed(reading, { modelId, afterFaceId: '', limit: 1 })
  return faceIds.length === 0 ? 0 : (await findModelCoverage(reading, modelId)).remakeableFaces
}

async function* faceIdsToReEmbed(store: Store, modelId: string): AsyncGenerator<string> {
  for (let afterFaceId = ''; ;) {
    const page = { modelId, afterFaceId, limit: faceBatchSize }
    const faceIds = await store.read((reading) => findFacesToReEmbed(reading, page))
    yield* faceIds
    const last = faceIds.at(-1)
    if (last === undefined) return
    afterFaceId = last
  }
}

/** Gives calls priority, and retries a crop for which no worker was available. */
async function reEmbedWhenIdle(
  options: ReEmbedOptions,
  faceId: string,
  vision: ReEmbedVisionClient,
  signal: AbortSignal,
): Promise<ReEmbedOutcome> {
  for (;;) {
    for (let ms = 0; ms < idleWaitMsMax && !vision.isIdle(); ms += idlePollMs)
      if (!(await pause(idlePollMs, signal))) return 'skipped'
    try {
      return await reEmbedFace(options, faceId, vision)
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      if (!(await pause(busyPauseMs, signal))) return 'skipped'
    }
  }
}

/** @returns false if the signal aborted. */
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
