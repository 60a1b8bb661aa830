import { z } from 'zod'
import { challengeSteps } from '../../lib/liveness/challenge-steps.ts'

/** The movements of the head that a challenge requests. */
export const challengeStep = z.enum(challengeSteps).meta({
  description:
    'Left and right are those of the person. In an image that is not mirrored, the nose then points to image right for turnLeft.',
})

export const attemptSessionId = z.string().min(1).max(128).meta({
  description:
    'The id that POST /v1/liveness/sessions returned. `images` are then the frames of an attempt: one more than steps, or more, in the order of recording, the first one frontal. Each must show one face.',
})

export const livenessSessionId = z.string().min(1).max(128).meta({
  description:
    'A liveness session that was passed: its reference frame is the image of the call, or for svc.verify the first image, and the person is live. It is used once: a successful call spends the frame.',
})

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
      step: challengeStep.nullable().meta({ description: 'null: the whole attempt.' }),
      cause: failureCause,
      degrees: z.number().optional().meta({
        description:
          'With MOVED_TOO_LITTLE and MOVED_TOO_FAR: how far the head moved in this direction.',
      }),
      degreesMin: z.number().optional().meta({
        description: 'With MOVED_TOO_LITTLE: how far it must move.',
      }),
      degreesMax: z.number().optional().meta({
        description: 'With MOVED_TOO_FAR: how far it may move.',
      }),
    }),
  )
  .meta({
    description:
      'Why the attempt failed: one cause for each step that was not shown, or one for the whole attempt. Empty if it was passed.',
  })

const degrees = z.number().nullable()

/** The result of a challenge. */
export const challengeResult = z
  .object({
    passed: z.boolean(),
    steps: z.array(
      z.object({
        step: challengeStep,
        passed: z.boolean(),
        imageIndex: z
          .int()
          .min(0)
          .nullable()
          .meta({ description: 'The image that shows the step; null if none does in its turn.' }),
        yaw: degrees.meta({
          description:
            'Degrees, change against the first image; above 0 the nose moved to image right.',
        }),
        pitch: degrees.meta({
          description: 'Degrees, change against the first image; above 0 the nose moved up.',
        }),
      }),
    ),
    samePerson: z.boolean().meta({ description: 'Whether all images show the same person.' }),
    causes: attemptCauses,
    flat: z.boolean().meta({ description: 'Whether the face moved like a flat picture.' }),
  })
  .meta({ id: 'ChallengeResult' })
