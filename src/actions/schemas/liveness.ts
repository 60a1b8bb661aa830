import { z } from 'zod'
import texts from './field-texts.json' with { type: 'json' }

export const livenessReasons = [
  'FACE_TOO_SMALL',
  'FACE_TOO_CLOSE_TO_EDGE',
  'EXTREME_POSE',
  'LOW_QUALITY',
  'INCONCLUSIVE',
  'MULTIPLE_FACES',
  'DIFFERENT_PERSON',
  'CHALLENGE_NOT_FOLLOWED',
  'FLAT_FACE',
  'FRAMES_IDENTICAL',
] as const

/** The liveness decision for one face. */
export const livenessDecision = z
  .object({
    decision: z.enum(['live', 'spoof', 'uncertain']).describe(texts.livenessDecision.decision),
    live: z.boolean().describe(texts.livenessDecision.live),
    score: z.number().min(0).max(1).describe(texts.livenessDecision.score),
    threshold: z.number().min(0).max(1).describe(texts.livenessDecision.threshold),
    reasons: z.array(z.enum(livenessReasons)).describe(texts.livenessDecision.reasons),
  })
  .meta({ id: 'LivenessJudgement' })
