import { setImmediate as nextTurn } from 'node:timers/promises'
import { findTemplatesWithoutVectors } from '../../../store/gallery/nearest.ts'
import {
  findMissingVectors,
  findSpacesInUse,
  type MissingVectors,
} from '../../../store/gallery/vectors.ts'
import type { SearchDeps } from '../gallery-search.ts'
import {
  moveVectors,
  storeUnchangedVectors,
  createVectors,
  type VectorOptions,
} from './template-vectors.ts'

/** Vectors made in one transaction: calls wait no longer than for a busy neighbour. */
const vectorBatchSize = 64
/** Vectors between two lines of progress in the log. */
const vectorsPerLogLine = 10_000

export type BuildVectorsOptions = SearchDeps & VectorOptions & { readonly isRotated: boolean }
type ReportProgress = (count: number) => void

/**
 * Makes the vectors that are missing, and anew those that are rotated where they should not be, or
 * the other way round. What is left to do is what the rows lack: it can be ended at any moment, goes
 * on at the next start, and several servers do no harm at it.
 */
export async function buildVectors(
  options: BuildVectorsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { store, calibrations, log } = options
  const modelIds = [calibrations.activeModelId, ...calibrations.formerModelIds]
  const lacks = await store.read((reading) => findMissingVectors(reading, modelIds))
  const lacking = lacks.reduce((sum, lack) => sum + lack.missing, 0)
  if (lacking > 0) log.info({ lacking }, 'vectors are made of stored templates')
  let done = 0
  const progress = (count: number): void => {
    done += count
    if (Math.floor(done / vectorsPerLogLine) > Math.floor((done - count) / vectorsPerLogLine))
      log.info({ done, lacking }, 'vectors are being made of stored templates')
  }
  for (const lack of lacks) await buildMissingVectors(options, lack, progress, signal)
  await moveMisplaced(options, progress, signal)
  if (done > 0) log.info({ done }, 'vectors were made of stored templates')
}

async function buildMissingVectors(
  options: BuildVectorsOptions,
  { galleryId, modelId }: MissingVectors,
  progress: ReportProgress,
  signal: AbortSignal,
): Promise<void> {
  const { store } = options
  const all = { galleryId, modelId, preferredModelIds: [] }
  for (let afterFaceId = ''; !signal.aborted;) {
    const page = { afterFaceId, limit: vectorBatchSize }
    const { rows, vectors } = await store.read(async (reading) => {
      const some = await findTemplatesWithoutVectors(reading, all, page)
      return { rows: some, vectors: await createVectors(reading, some, options) }
    })
    const last = rows.at(-1)
    if (!last) return
    await store.write((tx) => storeUnchangedVectors(tx, rows, vectors))
    progress(rows.length)
    afterFaceId = last.faceId
    await nextTurn()
  }
}

/** The setting has changed: vectors go from the rotated space to the plain one, or back. */
async function moveMisplaced(
  options: BuildVectorsOptions,
  progress: ReportProgress,
  signal: AbortSignal,
): Promise<void> {
  const { store } = options
  const wrong = { isRotated: !options.isRotated }
  for (const { galleryId, space } of await store.read((reading) =>
    findSpacesInUse(reading, wrong),
  )) {
    const from = { galleryId, space, limit: vectorBatchSize }
    for (let count = vectorBatchSize; count === vectorBatchSize && !signal.aborted; progress(count))
      count = await store.write((tx) => moveVectors(tx, from, options))
  }
}
