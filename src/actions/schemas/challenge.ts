import { z } from 'zod'
import { challengeSteps } from '../../lib/liveness/challenge-steps.ts'
import texts from './field-texts.json' with { type: 'json' }

/** The movements of the head that a challenge requests. */
export const challengeStep = z.enum(challengeSteps).describe(texts.challenge.challengeStep)

const sessionId = z.string().min(1).max(128)

export const attemptSessionId = sessionId.describe(texts.challenge.attemptSessionId)

export const livenessSessionId = sessionId.describe(texts.challenge.livenessSessionId)

/** Why a step, or a whole attempt, was not passed: one code that the person can act on. */
const failureCause = z.enum([
  'NO_FACE',
  'TOO_FAR',
  'TOO_NEAR',
  'TOO_DARK',
  'TOO_BRIGHT',
  'MOVED_TOO_LITTLE',
  'MOVED_TOO_FAR',
  'WRONG_DIRECTION',
  'TOO_FAST',
  'COVERED',
  'ANOTHER_PERSON',
  'LEFT_PICTURE',
  'PICTURE_OF_PICTURE',
])

export type FailureCause = z.output<typeof failureCause>

export const attemptCauses = z
  .array(
    z.object({
      step: challengeStep.nullable().describe(texts.challenge.step),
      cause: failureCause,
      degrees: z.number().optional().describe(texts.challenge.degrees),
      degreesMin: z.number().optional().describe(texts.challenge.degreesMin),
      degreesMax: z.number().optional().describe(texts.challenge.degreesMax),
    }),
  )
  .describe(texts.challenge.attemptCauses)

const degrees = z.number().nullable()

/** The result of a challenge. */
export const challengeResult = z
  .object({
    passed: z.boolean(),
    steps: z.array(
      z.object({
        step: challengeStep,
        passed: z.boolean(),
        imageIndex: z.int().min(0).nullable().describe(texts.challenge.imageIndex),
        yaw: degrees.describe(texts.challenge.yaw),
        pitch: degrees.describe(texts.challenge.pitch),
      }),
    ),
    samePerson: z.boolean().describe(texts.challenge.samePerson),
    causes: attemptCauses,
    flat: z.boolean().describe(texts.challenge.flat),
  })
  .meta({ id: 'ChallengeResult' })
