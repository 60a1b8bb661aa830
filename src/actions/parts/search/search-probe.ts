import type { SearchHit } from '../../../gallery/search/search-across-models.ts'
import { ActionError } from '../../../lib/errors.ts'
import type { Tx } from '../../../store/tx.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { ActionCall } from '../../action.ts'
import { debugCandidatesMax } from './candidates.ts'
import { searchThreshold } from './search-threshold.ts'

type SearchParams = {
  readonly maxCandidates: number
  readonly threshold?: number | 'auto' | undefined
  readonly groups?: readonly string[] | undefined
}

type SearchCall = Pick<ActionCall<SearchParams>, 'params' | 'caller' | 'services' | 'debug'>

/** Searches the gallery with one face; `debug` needs some candidates more. */
export function searchProbe(
  { params, caller, services, debug }: SearchCall,
  probes: readonly Template[],
  excludeSubjectId?: string,
): Promise<SearchHit[]> {
  const limit = params.maxCandidates + (debug ? debugCandidatesMax : 0)
  const options = { limit, groups: params.groups, excludeSubjectId }
  return services.gallery.search(caller.galleryId, probes, options)
}

/**
 * Counts the faces of the gallery that a probe with templates of these models cannot be compared with.
 *
 * @throws ActionError MODEL_MISMATCH if that is every face.
 */
export async function countIncomparable(
  { caller, services: { gallery } }: SearchCall,
  modelIds: readonly string[],
): Promise<number> {
  const { count, otherCount } = await gallery.countComparable(caller.galleryId, modelIds)
  if (count === 0 && otherCount > 0)
    throw new ActionError(
      'MODEL_MISMATCH',
      `the gallery has no template of ${modelIds.join(' or ')}`,
    )
  return otherCount
}

/** Returns the size of the gallery and the threshold of the search when the call is settled. */
export async function searchFacts({ params, caller, services: { gallery } }: SearchCall, tx: Tx) {
  const gallerySize = (await gallery.size(tx, caller.galleryId)).subjectCount
  const request = { requested: params.threshold, projectId: caller.projectId, gallerySize }
  return { gallerySize, ...(await searchThreshold(gallery, tx, request)) }
}
