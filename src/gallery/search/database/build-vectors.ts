import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import { findTemplatesWithoutVectors } from '../../../store/gallery/nearest.ts'
import { findMissingVectors, type MissingVectors } from '../../../store/gallery/vectors.ts'
import type { SearchDeps } from '../gallery-search.ts'
import { createVectors, storeExistingVectors } from './template-vectors.ts'

/** Vectors per transaction: other calls wait no longer than for one ordinary write. */
const vectorBatchSize = 64
/** Vectors between two progress lines in the log. */
const vectorsPerLogLine = 10_000

type ReportProgress = (count: number) => void

/**
 * Creates all missing vectors from the stored templates.
 *
 * The rows themselves show what is left to do. The function can therefore be interrupted at any
 * time, the next start continues, and several servers may run it at the same time.
 */
export async function buildVectors(deps: SearchDeps, signal: AbortSignal): Promise<void> {
  const { store, calibrations, log } = deps
  const modelIds = [calibrations.activeModelId, ...calibrations.formerModelIds]
  const galleries = await store.read((reading) => findMissingVectors(reading, modelIds))
  const missing = galleries.reduce((sum, gallery) => sum + gallery.missing, 0)
  if (missing === 0) return
  log.info({ missing }, 'creating missing vectors from stored templates')
  let done = 0
  const reportProgress = (count: number): void => {
    done += count
    if (Math.floor(done / vectorsPerLogLine) > Math.floor((done - count) / vectorsPerLogLine))
      log.info({ done, missing }, 'creating vectors from stored templates')
  }
  for (const gallery of galleries) await buildMissingVectors(deps, gallery, reportProgress, signal)
  if (done > 0) log.info({ done }, 'created vectors from stored templates')
}

async function buildMissingVectors(
  { store, decryptStored }: SearchDeps,
  { galleryId, modelId }: MissingVectors,
  reportProgress: ReportProgress,
  signal: AbortSignal,
): Promise<void> {
  const filter = { galleryId, modelId, preferredModelIds: [] }
  for (let afterFaceId = ''; !signal.aborted;) {
    const page = { afterFaceId, limit: vectorBatchSize }
    const { rows, vectors } = await store.read(async (reading) => {
      const templates = await findTemplatesWithoutVectors(reading, filter, page)
      return { rows: templates, vectors: await createVectors(reading, templates, decryptStored) }
    })
    const last = rows.at(-1)
    if (!last) return
    await store.write((tx) => storeExistingVectors(tx, vectors))
    reportProgress(rows.length)
    afterFaceId = last.faceId
    await nextEventLoopTurn()
  }
}
