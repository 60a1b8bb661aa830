import type { Template } from '../vision/view.ts'
import type { Calibrations } from './calibrations.ts'
import type { SearchOptions } from './search/candidate.ts'
import type { GallerySearch } from './search/gallery-search.ts'
import { similarityAt } from './similarity.ts'

export type Hit = {
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
export async function searchModels(
  { search, calibrations }: { readonly search: GallerySearch; readonly calibrations: Calibrations },
  galleryId: string,
  probes: readonly Template[],
  options: SearchOptions,
): Promise<Hit[]> {
  const found = await Promise.all(
    probes.map(async (probe) => {
      const { modelId } = probe
      const calibration = calibrations.of(modelId)
      if (!calibration) throw new Error(`no table says what scores of ${modelId} mean`)
      const candidates = await search.search(galleryId, probe, options)
      return candidates.map(({ templateId, subjectId, score }): Hit => {
        const similarity = similarityAt(score, calibration)
        return { faceId: templateId, subjectId, score, similarity, modelId }
      })
    }),
  )
  const [only, ...others] = found
  return only && others.length === 0 ? only : merged(found.flat(), options.limit)
}

/** The sort is stable: among equals of one model its own order by score stays. */
function merged(hits: readonly Hit[], limit: number): Hit[] {
  const best = new Map<string, Hit>()
  for (const hit of hits.toSorted((a, b) => b.similarity - a.similarity))
    if (!best.has(hit.subjectId)) best.set(hit.subjectId, hit)
  return [...best.values()].slice(0, limit)
}
