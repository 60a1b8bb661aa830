import { bestDecision, type CallDecision } from '../../lib/observability/call-decision.ts'
import { roundTo } from '../../lib/round-to.ts'
import type { LivenessDecision } from './classify-liveness.ts'

/** A face with the subjects of its search, the most similar first. */
type FaceCandidates = {
  readonly qualityScore: number | null
  readonly candidates: readonly { readonly similarity: number }[]
  readonly isAmbiguous?: boolean
}

/** Returns what a search decided: the decision of the face with the highest similarity. */
export function searchDecision(threshold: number, faces: readonly FaceCandidates[]) {
  return bestDecision(
    faces.map(({ qualityScore, candidates: [best, next], isAmbiguous }) => ({
      ...comparisonDecision({ threshold, similarity: best?.similarity ?? null, qualityScore }),
      ...(isAmbiguous && { outcome: 'ambiguous' as const }),
      margin: best && next ? roundTo(best.similarity - next.similarity, 4) : null,
    })),
  )
}

type ComparedScore = {
  readonly threshold: number
  /** Null if there was nothing to compare with. */
  readonly similarity: number | null
  readonly qualityScore: number | null
}

/** Returns what the comparison of a face decided. */
export function comparisonDecision({
  threshold,
  similarity,
  qualityScore: quality,
}: ComparedScore): CallDecision {
  const outcome = similarity !== null && similarity >= threshold ? 'match' : 'no_match'
  return {
    outcome,
    similarity,
    livenessScore: null,
    threshold,
    margin: null,
    quality,
    reason: null,
  }
}

type LivenessValue = LivenessDecision & {
  readonly face: { readonly quality: { readonly score: number } }
  readonly challenge?: object | undefined
}

/** Returns what a liveness check decided; a challenge is passed by a live person only. */
export function livenessCallDecision(value: LivenessValue): CallDecision {
  const { decision, live, score, threshold, reasons, face, challenge } = value
  return {
    outcome: challenge === undefined ? decision : live ? 'passed' : 'failed',
    similarity: null,
    livenessScore: score,
    threshold,
    margin: null,
    quality: face.quality.score,
    reason: reasons.join(',') || null,
  }
}
