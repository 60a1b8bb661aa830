import { mapSequential } from '../../lib/map-sequential.ts'
import type { Template } from '../../vision/embed/template.ts'
import type { Calibrations } from '../calibration/calibrations.ts'
import type { TimedSearchOptions } from './scored-subject.ts'
import type { GallerySearch } from './gallery-search.ts'
import { roundSimilarity, similarityOfScore } from '../calibration/similarity.ts'

export type SearchHit = {
  readonly faceId: string
  readonly subjectId: string
  /** Calibrated, 0..1, four decimals. */
  readonly similarity: number
  /** Uncalibrated score of the model. */
  readonly score: number
  /** The model of the compared templates. */
  readonly modelId: string
}

/**
 * Searches a gallery with each template of the probe among the templates of the same model. Returns
 * the most similar subjects, best first, each once. The results are merged by similarity, because
 * scores of different models cannot be compared.
 *
 * The models are searched one after another, the last former model first and the active one last.
 * Templates that are replaced meanwhile only move towards the active model, so no search misses them.
 *
 * @param probes templates of the probe, one per model.
 */
export async function searchAcrossModels(
  { search, calibrations }: { readonly search: GallerySearch; readonly calibrations: Calibrations },
  galleryId: string,
  probes: readonly Template[],
  options: TimedSearchOptions,
): Promise<SearchHit[]> {
  const lastFirst = await mapSequential(probes.toReversed(), async (probe) => {
    const { modelId } = probe
    const calibration = calibrations.of(modelId)
    if (!calibration) throw new Error(`there is no calibration for templates of ${modelId}`)
    const candidates = await search.search(galleryId, probe, options)
    return candidates.map((candidate): SearchHit => {
      const { faceId, subjectId, score } = candidate
      const similarity = roundSimilarity(similarityOfScore(candidate, calibration))
      return { faceId, subjectId, score, similarity, modelId }
    })
  })
  return mergeHits(lastFirst.toReversed().flat(), options.limit)
}

/** The sort is stable: hits of one model with equal similarity keep their order by score. */
function mergeHits(hits: readonly SearchHit[], limit: number): SearchHit[] {
  const best = new Map<string, SearchHit>()
  for (const hit of hits.toSorted((a, b) => b.similarity - a.similarity))
    if (!best.has(hit.subjectId)) best.set(hit.subjectId, hit)
  return [...best.values()].slice(0, limit)
}
