import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import { lockGallery } from '../../../store/gallery/galleries.ts'
import { findStaleSubjectIds, findStaleVectors } from '../../../store/gallery/vectors.ts'
import type { SearchDeps } from '../gallery-search.ts'
import { storeVectors } from './subject-vectors.ts'

/** Subjects per transaction: other calls wait no longer than for a few ordinary writes. */
const subjectBatchSize = 32
/** Vectors between two progress lines in the log. */
const vectorsPerLogLine = 10_000

/**
 * Computes all stale vectors from the stored templates.
 *
 * The rows themselves show what is left to do. The function can therefore be interrupted at any
 * time, the next start continues, and several servers may run it at the same time.
 */
export async function buildVectors(deps: SearchDeps, signal: AbortSignal): Promise<void> {
  const { store, calibrations, log } = deps
  const modelIds = [calibrations.activeModelId, ...calibrations.formerModelIds]
  const galleries = await store.read((reading) => findStaleVectors(reading, modelIds))
  const missing = galleries.reduce((sum, { count }) => sum + count, 0)
  if (missing === 0) return
  log.info({ missing }, 'creating missing vectors from stored templates')
  let done = 0
  for (const { galleryId } of galleries)
    for (let count = subjectBatchSize; count === subjectBatchSize && !signal.aborted;) {
      count = await buildBatch(deps, { galleryId, modelIds })
      done += count
      if (Math.floor(done / vectorsPerLogLine) > Math.floor((done - count) / vectorsPerLogLine))
        log.info({ done, missing }, 'creating vectors from stored templates')
      await nextEventLoopTurn()
    }
  if (done > 0) log.info({ done }, 'created vectors from stored templates')
}

/** @returns the number of subjects. */
function buildBatch(
  { store, decryptStored }: SearchDeps,
  stale: { readonly galleryId: string; readonly modelIds: readonly string[] },
): Promise<number> {
  return store.write(async (tx) => {
    const { galleryId } = stale
    await lockGallery(tx, galleryId, 'exclusive')
    const subjectIds = await findStaleSubjectIds(tx, stale, subjectBatchSize)
    if (subjectIds.length > 0) await storeVectors(tx, { galleryId, subjectIds }, decryptStored)
    return subjectIds.length
  })
}
