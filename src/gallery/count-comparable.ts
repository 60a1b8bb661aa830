import { formatUtc, type Clock } from '../lib/clock.ts'
import type { Store } from '../store/database.ts'
import { findExpiredTemplates } from '../store/gallery/expired-subjects.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import type { GallerySearch } from './search/gallery-search.ts'
import { selectTemplate } from './select-template.ts'

/** Faces that can be compared with templates of some models, and the others. */
export type ComparableCounts = { readonly count: number; readonly otherCount: number }

export type CountComparableOptions = {
  readonly store: Pick<Store, 'read'>
  readonly search: Pick<GallerySearch, 'countFaces'>
  readonly calibrations: Calibrations
  readonly clock: Clock
}

/** Counts the faces of a gallery that can be compared by one of the models, and the others. */
export async function countComparable(
  galleryId: string,
  modelIds: readonly string[],
  options: CountComparableOptions,
): Promise<ComparableCounts> {
  const { search } = options
  const { total, byModel } = await search.countFaces(galleryId, modelIds)
  const count = byModel.reduce((sum, modelCount) => sum + modelCount, 0)
  // All faces can be compared, as long as the model was not changed.
  if (count === total) return { count, otherCount: 0 }
  const expired = await countExpired(galleryId, modelIds, options)
  return {
    count: Math.max(0, count - expired.count),
    otherCount: Math.max(0, total - count - expired.otherCount),
  }
}

/** The sizes of the search include expired subjects until they are deleted. */
async function countExpired(
  galleryId: string,
  modelIds: readonly string[],
  { store, calibrations, clock }: CountComparableOptions,
): Promise<ComparableCounts> {
  const filter = { galleryId, nowUtc: formatUtc(clock()) }
  const templates = await store.read((reading) => findExpiredTemplates(reading, filter))
  const byFace = [...Map.groupBy(templates, ({ faceId }) => faceId).values()]
  const compared = byFace.flatMap((ofFace) => selectTemplate(ofFace, calibrations) ?? [])
  const count = compared.filter(({ modelId }) => modelIds.includes(modelId)).length
  return { count, otherCount: compared.length - count }
}
