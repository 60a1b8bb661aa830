import type { SearchHit } from '../../../gallery/match.ts'
import type { Tx } from '../../../store/database.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { ActionCall, ItemOutcome } from '../../action.ts'
import type { HitSubjects, MatchCandidate } from './candidates.ts'

type FeedbackCall = Pick<ActionCall<unknown>, 'caller' | 'services' | 'requestId'>

/** A face with the subjects of its search. */
type SearchedProbe = {
  readonly probes: readonly Template[]
  readonly hits: readonly SearchHit[]
}

/** The values of the faces of one image. */
type MatchedFaces = {
  readonly faces: readonly { readonly candidates: readonly MatchCandidate[] }[]
}

/**
 * Stores the best match of each face, so that it can be confirmed or denied, if the project has
 * feedback.
 */
export async function storeMatches(
  { caller: { projectId, galleryId, switches }, services, requestId }: FeedbackCall,
  tx: Tx,
  searches: readonly { readonly faces?: readonly SearchedProbe[] }[],
  { outcomes, subjects }: MatchOutcomes,
): Promise<void> {
  if (!switches.feedback) return
  const matched = outcomes.flatMap((outcome, resultIndex) =>
    ('value' in outcome ? outcome.value.faces : []).flatMap(({ candidates: [best] }, faceIndex) => {
      const { probes = [], hits = [] } = searches[resultIndex]?.faces?.[faceIndex] ?? {}
      const hit = hits.find(({ subjectId }) => subjectId === best?.subjectId)
      const template = probes.find(({ modelId }) => modelId === hit?.modelId)
      const subject = hit && subjects.get(hit.subjectId)?.row
      return subject && template ? [{ resultIndex, faceIndex, template, subject }] : []
    }),
  )
  const call = { projectId, galleryId, requestId }
  if (matched.length > 0) await services.subjects.feedback.store(tx, call, matched)
}

type MatchOutcomes = {
  readonly outcomes: readonly ItemOutcome<MatchedFaces>[]
  readonly subjects: HitSubjects
}
