import {
  bestDecision,
  isNearMiss,
  type CallDecision,
} from '../../../lib/observability/call-decision.ts'
import type { Tx } from '../../../store/database.ts'
import type { SubjectRow } from '../../../store/gallery-schema.ts'
import type { ActionCall, ItemOutcomes } from '../../action.ts'
import type { SearchedFace } from './unknown-faces.ts'

type NearMissCall = Pick<ActionCall<unknown>, 'caller' | 'services' | 'requestId'>

/** A face with the most similar subject, and what the comparison decided. */
type NearestFace = {
  readonly decision: CallDecision
  readonly subject: SubjectRow
  /** A JPEG in base64; absent if the call did not extract it. */
  readonly contextCrop?: string
}

/** Stores the face of a call that is a near miss, if the project keeps them. */
export async function storeNearMiss(
  { caller: { accountId, projectId, switches }, services, requestId }: NearMissCall,
  tx: Tx,
  { decision, subject, contextCrop }: NearestFace,
): Promise<void> {
  if (!switches.nearMissCrops || contextCrop === undefined || !isNearMiss(decision)) return
  const ids = { accountId, projectId, requestId }
  const jpeg = Buffer.from(contextCrop, 'base64')
  await services.subjects.storeNearMiss(tx, { ...ids, subject, jpeg })
}

/** Stores the face of a search by which the call is a near miss. A call has at most one. */
export async function storeNearestFace(
  call: NearMissCall,
  tx: Tx,
  searches: readonly { readonly faces?: readonly SearchedFace[] }[],
  outcomes: ItemOutcomes,
): Promise<void> {
  const decision = bestDecision(outcomes.flatMap((outcome) => outcome.decision ?? []))
  if (!decision || !call.caller.switches.nearMissCrops) return
  const faces = searches.flatMap((search) => search.faces ?? [])
  const nearest = faces.flatMap((face) =>
    face.decidedHits
      .filter(({ similarity }) => similarity === decision.similarity)
      .map((hit) => ({ ...face, hit })),
  )
  const { galleryId } = call.caller
  for (const { hit, ...face } of nearest) {
    const subject = await call.services.subjects.find(tx, galleryId, hit)
    if (subject) return storeNearMiss(call, tx, { ...face, subject, decision })
  }
}
