import { z } from 'zod'

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
    decision: z.enum(['live', 'spoof', 'uncertain']).meta({
      description:
        'Passive, from one image. It detects prints and screens, not masks, deep fakes or injected images. A spoof is a result, not an error.',
    }),
    live: z.boolean().meta({ description: 'True only for the decision `live`.' }),
    score: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: 'The higher the score, the more probable is a live person.' }),
    threshold: z.number().min(0).max(1).meta({ description: 'Scores from this value are live.' }),
    reasons: z.array(z.enum(livenessReasons)).meta({
      description:
        'Why the decision is uncertain. LOW_QUALITY: the quality of the face is too low, or the image has no colour. INCONCLUSIVE: the score is between the limits of `live` and `spoof`. MULTIPLE_FACES: the image contains another face whose shorter side is at least half that of the largest; for a spoof this is only reported. DIFFERENT_PERSON, CHALLENGE_NOT_FOLLOWED, FLAT_FACE and FRAMES_IDENTICAL: why a challenge was not passed.',
    }),
  })
  .meta({ id: 'LivenessJudgement' })
