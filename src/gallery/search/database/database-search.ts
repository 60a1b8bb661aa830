import assert from 'node:assert/strict'
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import { mapSequential } from '../../../lib/account-context.ts'
import { formatUtc } from '../../../lib/clock.ts'
import type { ReadTx } from '../../../store/database.ts'
import type { VectorIndexKey } from '../../../store/postgres/vectors/vector-maintenance.ts'
import { findGallery, lockGallery } from '../../../store/gallery/galleries.ts'
import { findRemovalWatermarks } from '../../../store/gallery/removals.ts'
import * as vectors from '../../../store/gallery/vectors.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { Calibrations } from '../../calibration/calibrations.ts'
import { assertTemplateVector } from '../../calibration/similarity.ts'
import type { FaceCounts, OpenGallerySearch, SearchDeps } from '../gallery-search.ts'
import { type SearchCandidate, type TimedSearchOptions, limitMax } from '../scored-subject.ts'
import { rankNearest, storeVectors } from './rank-nearest.ts'

type DatabaseSearchOptions = {
  /** Galleries of up to this many subjects are searched exactly, larger ones by the index. */
  readonly exactMax: number
  readonly maintenance: {
    readonly buildIndex: (target: VectorIndexKey, signal: AbortSignal) => Promise<void>
    readonly vacuum: () => Promise<void>
  }
}

/**
 * Opens the search in the database. The database stores a vector for each subject and model. It is
 * written in the same transaction as a change of the subject's templates, so every search that begins
 * after the commit uses it, on every server. A server that searches in memory only marks the vectors
 * of changed subjects as stale. Searches decrypt and score these subjects one by one until `maintain`
 * has computed their vectors.
 */
export function openDatabaseSearch(options: DatabaseSearchOptions): OpenGallerySearch {
  return async (deps) => {
    const context = { ...deps, ...options }
    await buildVectors(deps, new AbortController().signal)
    return {
      search: (galleryId, probe, searchOptions) => search(context, galleryId, probe, searchOptions),
      countFaces: (galleryId, modelIds) =>
        deps.store.read((reading) =>
          countFaces(reading, deps.calibrations, { galleryId, modelIds }),
        ),
      storeVectors: (tx, { galleryId, subjectId }) =>
        storeVectors(tx, { galleryId, subjectIds: [subjectId] }, deps.decryptStored),
      sync: async () => {},
      // Templates are not held in memory. `maintain` deletes the records of removed faces.
      applyRemovals: async () => {},
      maintain: (signal) => maintain(context, signal),
    }
  }
}

type DatabaseSearchContext = SearchDeps & DatabaseSearchOptions

async function search(
  context: DatabaseSearchContext,
  galleryId: string,
  probe: Template,
  { limit, nowMs, ...conditions }: TimedSearchOptions,
): Promise<readonly SearchCandidate[]> {
  assertTemplateVector(probe)
  assert.ok(Number.isInteger(limit) && limit >= 1 && limit <= limitMax)
  const { modelId } = probe
  const preferredModelIds = modelsBefore(modelId, context.calibrations)
  const unexpiredAtUtc = formatUtc(nowMs)
  const filter = { galleryId, modelId, preferredModelIds, unexpiredAtUtc, ...conditions }
  return context.store.read((reading) => rankNearest({ reading, filter, probe, limit }, context))
}

/** A face is compared by its template of the first loaded model that has one. */
function modelsBefore(modelId: string, { activeModelId, formerModelIds }: Calibrations) {
  const loaded = [activeModelId, ...formerModelIds]
  const index = loaded.indexOf(modelId)
  return index < 0 ? loaded : loaded.slice(0, index)
}

/** Counts in one snapshot: an enrollment between two snapshots would look like an incomparable face. */
async function countFaces(
  reading: ReadTx,
  calibrations: Calibrations,
  { galleryId, modelIds }: { readonly galleryId: string; readonly modelIds: readonly string[] },
): Promise<FaceCounts> {
  const total = (await findGallery(reading, galleryId))?.templateCount ?? 0
  const byModel = await mapSequential(modelIds, async (modelId) => {
    const templates = await vectors.countTemplates(reading, { galleryId, modelId })
    const preferredModelIds = modelsBefore(modelId, calibrations)
    if (templates === 0 || preferredModelIds.length === 0) return templates
    return vectors.countWithoutPreferred(reading, { galleryId, modelId, preferredModelIds })
  })
  return { total, byModel }
}

async function maintain(context: DatabaseSearchContext, signal: AbortSignal): Promise<void> {
  const { store, maintenance, exactMax } = context
  await store.confirmRemovals(await store.read(findRemovalWatermarks))
  await buildVectors(context, signal)
  const large = await store.read((reading) => vectors.findLargeGalleries(reading, exactMax))
  for (const { dimensions, ...target } of large)
    if (dimensions !== null && !signal.aborted)
      await maintenance.buildIndex({ ...target, dimensions }, signal)
  if (!signal.aborted) await maintenance.vacuum()
}

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
async function buildVectors(deps: SearchDeps, signal: AbortSignal): Promise<void> {
  const { store, calibrations, log } = deps
  const modelIds = [calibrations.activeModelId, ...calibrations.formerModelIds]
  const galleries = await store.read((reading) => vectors.findStaleVectors(reading, modelIds))
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
    const subjectIds = await vectors.findStaleSubjectIds(tx, stale, subjectBatchSize)
    if (subjectIds.length > 0) await storeVectors(tx, { galleryId, subjectIds }, decryptStored)
    return subjectIds.length
  })
}
