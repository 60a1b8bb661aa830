import assert from 'node:assert/strict'
import { findGallery } from '../../../store/gallery/galleries.ts'
import {
  countWithoutPreferred,
  findLargeGalleries,
  findVectorCoverage,
} from '../../../store/gallery/vectors.ts'
import type { Template } from '../../../vision/image-analysis.ts'
import type { Calibrations } from '../../calibration/calibrations.ts'
import { limitMax, type ScoredSubject, type SearchOptions } from '../scored-subject.ts'
import { assertTemplateVector } from '../memory/index-change.ts'
import type { OpenGallerySearch, SearchDeps } from '../gallery-search.ts'
import { buildVectors } from './build-vectors.ts'
import { rankNearest, type RankOptions } from './rank-nearest.ts'
import { createSpaces } from './spaces.ts'
import { storeVector } from './template-vectors.ts'

type VectorIndexTarget = {
  readonly galleryId: string
  readonly modelId: string
  readonly dimensions: number
}

export type DatabaseSearchOptions = {
  /** Whether vectors are rotated in secret. */
  readonly isRotated: boolean
  /** Galleries of up to so many vectors are searched exactly. */
  readonly exactMax: number
  readonly maintenance: {
    readonly buildIndex: (of: VectorIndexTarget, signal: AbortSignal) => Promise<void>
    readonly vacuum: () => Promise<void>
  }
}

/**
 * Searches in the database, which holds a vector beside each template of a model that is loaded.
 * Written in the same transaction as its template, a vector is seen by whatever search begins after
 * the commit, on every server. A template that has none, because a server stored it that searches in
 * its memory, is counted and looked at by itself, until `tend` has made its vector.
 */
export function openDatabaseSearch(options: DatabaseSearchOptions): OpenGallerySearch {
  return async (parts) => {
    const spaces = createSpaces(parts.keys, options)
    const working = { ...parts, ...options, spaces }
    await buildVectors(working, new AbortController().signal)
    return {
      search: (galleryId, probe, wanted) => search(working, galleryId, probe, wanted),
      size: (galleryId, modelId) => size(parts, galleryId, modelId),
      storeVector: (tx, place, template) => storeVector(tx, place, template, spaces),
      sync: async () => {},
      maintain: (signal) => maintain(working, signal),
    }
  }
}

type DatabaseSearchContext = SearchDeps & RankOptions & DatabaseSearchOptions

async function search(
  working: DatabaseSearchContext,
  galleryId: string,
  probe: Template,
  { limit, ...only }: SearchOptions,
): Promise<readonly ScoredSubject[]> {
  assertTemplateVector(probe)
  assert.ok(Number.isInteger(limit) && limit >= 1 && limit <= limitMax)
  const { modelId } = probe
  const preferredModelIds = modelsBefore(modelId, working.calibrations)
  const filter = { galleryId, modelId, preferredModelIds, ...only }
  return working.store.read((reading) => rankNearest({ reading, filter, probe, limit }, working))
}

/** A face is compared by the first of the loaded models that has described it. */
function modelsBefore(
  modelId: string,
  { activeModelId, formerModelIds }: Calibrations,
): readonly string[] {
  const loaded = [activeModelId, ...formerModelIds]
  const at = loaded.indexOf(modelId)
  return at < 0 ? loaded : loaded.slice(0, at)
}

function size(
  { store, calibrations }: SearchDeps,
  galleryId: string,
  modelId: string | undefined,
): Promise<number> {
  return store.read(async (reading) => {
    if (modelId === undefined) return (await findGallery(reading, galleryId))?.templateCount ?? 0
    const { templates } = await findVectorCoverage(reading, galleryId, modelId)
    const preferredModelIds = modelsBefore(modelId, calibrations)
    if (templates === 0 || preferredModelIds.length === 0) return templates
    return countWithoutPreferred(reading, { galleryId, modelId, preferredModelIds })
  })
}

async function maintain(working: DatabaseSearchContext, signal: AbortSignal): Promise<void> {
  const { store, maintenance: upkeep, exactMax } = working
  await buildVectors(working, signal)
  const large = await store.read((reading) => findLargeGalleries(reading, exactMax))
  for (const { dimensions, ...of } of large)
    if (dimensions !== null && !signal.aborted)
      await upkeep.buildIndex({ ...of, dimensions }, signal)
  if (!signal.aborted) await upkeep.vacuum()
}
