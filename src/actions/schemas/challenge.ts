import { z } from 'zod'

/** The movements of the head that a challenge requests. */
export const challengeStep = z.enum(['turnLeft', 'turnRight', 'lookUp', 'lookDown']).meta({
  description:
    'Left and right are those of the person. In an image that is not mirrored, the nose then points to image right for turnLeft.',
})

export const challengeId = z.string().min(1).max(128).meta({
  description:
    'The id that POST /v1/liveness/challenges returned. `images` are then the frames of the response to the challenge: one more than steps, or more, in the order of recording, the first one frontal. Each must show one face.',
})

export const livenessToken = z.string().min(1).max(128).meta({
  description:
    'A token that svc.liveness returned for a passed challenge. With requireLiveness it replaces the passive check, if the face is that of the same person (similarity 0.80 or more). It is used once: a successful call spends it.',
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
    flat: z.boolean().meta({ description: 'Whether the face moved like a flat picture.' }),
  })
  .meta({ id: 'ChallengeResult' })
