import { z } from 'zod'
import { challengeStep } from '../../actions/schemas/challenge.ts'
import { imagesPerCallMax } from '../../lib/limits/call-limits.ts'
import { defineRoute } from './rest-route.ts'

/** The text of each step, for the person in front of the camera. */
const stepInstructions = {
  turnLeft: 'Turn your head to the left.',
  turnRight: 'Turn your head to the right.',
  lookUp: 'Look up.',
  lookDown: 'Look down.',
} as const satisfies Record<z.output<typeof challengeStep>, string>

export const livenessChallenge = z
  .object({
    challengeId: z.string().meta({ description: 'For svc.liveness. It can be used once.' }),
    steps: z.array(challengeStep).meta({ description: 'The movements, in their order.' }),
    expiresAtUtc: z.string().meta({ description: '120 s after the creation.' }),
    framesMax: z.int().meta({ description: 'The most images of a response.' }),
    instructions: z
      .record(z.string(), z.string())
      .meta({ description: 'An English text for each movement of the challenge.' }),
  })
  .meta({ id: 'LivenessChallenge' })

export const createLivenessChallenge = defineRoute({
  method: 'POST',
  path: '/v1/liveness/challenges',
  name: 'createLivenessChallenge',
  summary:
    'Create a liveness challenge: random head movements that svc.liveness then verifies in the images of the response.',
  permission: 'svc.liveness',
  tag: 'face',
  query: z.strictObject({}),
  body: z.strictObject({
    steps: z
      .int()
      .min(2)
      .max(4)
      .default(3)
      .meta({ description: 'The number of movements. More are harder to guess.' }),
  }),
  value: livenessChallenge,
  example: {
    challengeId: '6f1d7c2e-94ab-4c1e-8a5f-2b7d3e9c0f14',
    steps: ['turnLeft', 'lookUp', 'turnRight'],
    expiresAtUtc: '2026-03-01T12:02:00.000Z',
    framesMax: imagesPerCallMax,
    instructions: {
      turnLeft: stepInstructions.turnLeft,
      lookUp: stepInstructions.lookUp,
      turnRight: stepInstructions.turnRight,
    },
  },
  run: async ({ body, caller, services: { challenges } }) => {
    const challenge = await challenges.create(caller.projectId, body.steps)
    const { challengeId, steps, expiresAtMs } = challenge
    return {
      challengeId,
      steps,
      expiresAtUtc: new Date(expiresAtMs).toISOString(),
      framesMax: imagesPerCallMax,
      instructions: Object.fromEntries(steps.map((step) => [step, stepInstructions[step]])),
    }
  },
})
