import type { SearchHit } from '../../../gallery/match.ts'
import type { Tx } from '../../../store/database.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { ActionCall, ItemOutcome } from '../../action.ts'
import type { MatchCandidate } from './candidates.ts'

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
  outcomes: readonly ItemOutcome<MatchedFaces>[],
): Promise<void> {
  if (!switches.feedback) return
  const matched = outcomes.flatMap((outcome, resultIndex) =>
    ('value' in outcome ? outcome.value.faces : []).flatMap(({ candidates: [best] }, faceIndex) => {
      const { probes = [], hits = [] } = searches[resultIndex]?.faces?.[faceIndex] ?? {}
      const hit = hits.find(({ subjectId }) => subjectId === best?.subjectId)
      const template = probes.find(({ modelId }) => modelId === hit?.modelId)
      return hit && template ? [{ resultIndex, faceIndex, template, hit }] : []
    }),
  )
  if (matched.length === 0) return
  const subjectIds = [...new Set(matched.map(({ hit }) => hit.subjectId))]
  const rows = await services.subjects.findByIds(tx, galleryId, subjectIds)
  const rowsById = new Map(rows.map((row) => [row.subjectId, row]))
  const faces = matched.flatMap(({ hit, ...face }) => {
    const subject = rowsById.get(hit.subjectId)
    return subject ? [{ ...face, subject }] : []
  })
  await services.subjects.feedback.store(tx, { projectId, galleryId, requestId }, faces)
}
