import assert from 'node:assert/strict'
import { formatUtc } from '../../../lib/clock.ts'
import { mapSequential } from '../../../lib/account-context.ts'
import { findGallery } from '../../../store/gallery/galleries.ts'
import { findRemovalWatermarks } from '../../../store/gallery/removals.ts'
import {
  countTemplates,
  countWithoutPreferred,
  findLargeGalleries,
} from '../../../store/gallery/vectors.ts'
import type { ReadTx } from '../../../store/database.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { Calibrations } from '../../calibration/calibrations.ts'
import { assertTemplateVector } from '../../calibration/similarity.ts'
import { limitMax, type SearchCandidate, type TimedSearchOptions } from '../scored-subject.ts'
import type { FaceCounts, OpenGallerySearch, SearchDeps } from '../gallery-search.ts'
import { buildVectors } from './build-vectors.ts'
import { rankNearest } from './rank-nearest.ts'
import { storeVectors } from './subject-vectors.ts'

type VectorIndexTarget = {
  readonly galleryId: string
  readonly modelId: string
  readonly dimensions: number
}

export type DatabaseSearchOptions = {
  /** Galleries of up to this many subjects are searched exactly, larger ones by the index. */
  readonly exactMax: number
  readonly maintenance: {
    readonly buildIndex: (target: VectorIndexTarget, signal: AbortSignal) => Promise<void>
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
function modelsBefore(
  modelId: string,
  { activeModelId, formerModelIds }: Calibrations,
): readonly string[] {
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
    const templates = await countTemplates(reading, { galleryId, modelId })
    const preferredModelIds = modelsBefore(modelId, calibrations)
    if (templates === 0 || preferredModelIds.length === 0) return templates
    return countWithoutPreferred(reading, { galleryId, modelId, preferredModelIds })
  })
  return { total, byModel }
}

async function maintain(context: DatabaseSearchContext, signal: AbortSignal): Promise<void> {
  const { store, maintenance, exactMax } = context
  await store.confirmRemovals(await store.read(findRemovalWatermarks))
  await buildVectors(context, signal)
  const large = await store.read((reading) => findLargeGalleries(reading, exactMax))
  for (const { dimensions, ...target } of large)
    if (dimensions !== null && !signal.aborted)
      await maintenance.buildIndex({ ...target, dimensions }, signal)
  if (!signal.aborted) await maintenance.vacuum()
}
