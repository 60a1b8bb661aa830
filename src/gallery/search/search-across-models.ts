import type { Template } from '../../vision/image-analysis.ts'
import type { Calibrations } from '../calibration/calibrations.ts'
import type { SearchOptions } from './scored-subject.ts'
import type { GallerySearch } from './gallery-search.ts'
import { similarityAt } from '../calibration/similarity.ts'

export type SearchHit = {
  readonly faceId: string
  readonly subjectId: string
  readonly similarity: number
  /** As measured by the model that compared. */
  readonly score: number
  /** The model that compared. */
  readonly modelId: string
}

/**
 * Searches a gallery by each model that the probe was described by, like with like: the subjects
 * most like it, best first, each once. What models say is merged by similarity, which means the same
 * for all of them; their scores do not compare.
 */
export async function searchAcrossModels(
  { search, calibrations }: { readonly search: GallerySearch; readonly calibrations: Calibrations },
  galleryId: string,
  probes: readonly Template[],
  options: SearchOptions,
): Promise<SearchHit[]> {
  const found = await Promise.all(
    probes.map(async (probe) => {
      const { modelId } = probe
      const calibration = calibrations.of(modelId)
      if (!calibration) throw new Error(`no table says what scores of ${modelId} mean`)
      const candidates = await search.search(galleryId, probe, options)
      return candidates.map(({ templateId, subjectId, score }): SearchHit => {
        const similarity = similarityAt(score, calibration)
        return { faceId: templateId, subjectId, score, similarity, modelId }
      })
    }),
  )
  const [only, ...others] = found
  return only && others.length === 0 ? only : mergeHits(found.flat(), options.limit)
}

/** The sort is stable: among equals of one model its own order by score stays. */
function mergeHits(hits: readonly SearchHit[], limit: number): SearchHit[] {
  const best = new Map<string, SearchHit>()
  for (const hit of hits.toSorted((a, b) => b.similarity - a.similarity))
    if (!best.has(hit.subjectId)) best.set(hit.subjectId, hit)
  return [...best.values()].slice(0, limit)
}
