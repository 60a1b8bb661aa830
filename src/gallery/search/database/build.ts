import { setImmediate as nextTurn } from 'node:timers/promises'
import { templatesWithoutVectors } from '../../../store/nearest.ts'
import { lackingVectors, spacesInUse, type Lack } from '../../../store/vectors.ts'
import type { SearchParts } from '../gallery-search.ts'
import { moveVectors, putVectorsOf, vectorsOf, type Vectoring } from './vectors.ts'

/** Vectors made in one transaction: calls wait no longer than for a busy neighbour. */
const vectorsAtATime = 64
/** Vectors between two lines of progress in the log. */
const vectorsPerLine = 10_000

export type BuildOptions = SearchParts & Vectoring & { readonly isRotated: boolean }
type Progress = (count: number) => void

/**
 * Makes the vectors that are missing, and anew those that are rotated where they should not be, or
 * the other way round. What is left to do is what the rows lack: it can be ended at any moment, goes
 * on at the next start, and several servers do no harm at it.
 */
export async function buildVectors(options: BuildOptions, signal: AbortSignal): Promise<void> {
  const { store, calibrations, log } = options
  const modelIds = [calibrations.activeModelId, ...calibrations.formerModelIds]
  const lacks = await store.read((reading) => lackingVectors(reading, modelIds))
  const lacking = lacks.reduce((sum, lack) => sum + lack.lacking, 0)
  if (lacking > 0) log.info({ lacking }, 'vectors are made of stored templates')
  let done = 0
  const progress = (count: number): void => {
    done += count
    if (Math.floor(done / vectorsPerLine) > Math.floor((done - count) / vectorsPerLine))
      log.info({ done, lacking }, 'vectors are being made of stored templates')
  }
  for (const lack of lacks) await makeLacking(options, lack, progress, signal)
  await moveMisplaced(options, progress, signal)
  if (done > 0) log.info({ done }, 'vectors were made of stored templates')
}

async function makeLacking(
  options: BuildOptions,
  { galleryId, modelId }: Lack,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const { store } = options
  const all = { galleryId, modelId, preferredModelIds: [] }
  for (let afterFaceId = ''; !signal.aborted;) {
    const page = { afterFaceId, limit: vectorsAtATime }
    const { rows, vectors } = await store.read(async (reading) => {
      const some = await templatesWithoutVectors(reading, all, page)
      return { rows: some, vectors: await vectorsOf(reading, some, options) }
    })
    const last = rows.at(-1)
    if (!last) return
    await store.write((tx) => putVectorsOf(tx, rows, vectors))
    progress(rows.length)
    afterFaceId = last.faceId
    await nextTurn()
  }
}

/** The setting has changed: vectors go from the rotated space to the plain one, or back. */
async function moveMisplaced(
  options: BuildOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const { store } = options
  const wrong = { isRotated: !options.isRotated }
  for (const { galleryId, space } of await store.read((reading) => spacesInUse(reading, wrong))) {
    const from = { galleryId, space, limit: vectorsAtATime }
    for (let count = vectorsAtATime; count === vectorsAtATime && !signal.aborted; progress(count))
      count = await store.write((tx) => moveVectors(tx, from, options))
  }
}
