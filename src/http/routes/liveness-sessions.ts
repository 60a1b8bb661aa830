import { z } from 'zod'
import { attemptCauses, challengeStep } from '../../actions/schemas/challenge.ts'
import { livenessReasons } from '../../actions/schemas/liveness.ts'
import type { Services } from '../../actions/action.ts'
import { isUuid } from '../../lib/ids.ts'
import { imagesPerCallMax } from '../../lib/limits/call-limits.ts'
import examples from './examples.json' with { type: 'json' }
import { defineRoute } from './rest-route.ts'

/** The text of each step, for the person in front of the camera. */
const stepInstructions = {
  turnLeft: 'Turn your head to the left.',
  turnRight: 'Turn your head to the right.',
  lookUp: 'Look up.',
  lookDown: 'Look down.',
} as const satisfies Record<z.output<typeof challengeStep>, string>

/** What the server and the browser read of a session. */
export const sessionFields = {
  sessionId: z.string(),
  state: z.enum(['open', 'passed', 'failed', 'expired']).meta({
    description: '`failed`: no attempt is left. `expired`: no attempt was sent in its time.',
  }),
  attemptsLeft: z.int().min(0).meta({ description: 'At first 3.' }),
  steps: z.array(challengeStep).meta({
    description:
      'The movements of the next attempt, in their order; other ones after each failed attempt. Empty unless the session is open.',
  }),
  angles: z.array(z.object({ degreesMin: z.number(), degreesMax: z.number() })).meta({
    description:
      'With requireAngles, how far the head must move in each step, against the first image. Otherwise empty.',
  }),
  expiresAtUtc: z.string().nullable().meta({
    description:
      '120 s after the steps were drawn: the frames must arrive before. null unless the session is open.',
  }),
  framesMax: z.int().meta({ description: 'The most frames of an attempt.' }),
}

export const livenessSession = z
  .object({
    ...sessionFields,
    instructions: z
      .record(z.string(), z.string())
      .meta({ description: 'An English text for each movement.' }),
    sessionToken: z.string().nullable().meta({
      description:
        'Lets a browser send the frames of this session, and nothing else, from the origins of the project. null if the project has none, or on a later read.',
    }),
    decision: z.enum(['live', 'spoof', 'uncertain']).nullable().meta({
      description: 'Of the last attempt; null before the first.',
    }),
    reasons: z.array(z.string()).meta({
      description: `Of the last attempt: codes of svc.liveness (${livenessReasons.join(', ')}) or of the error of a frame.`,
    }),
    causes: attemptCauses,
    referenceFrame: z.object({ bytes: z.string(), contentType: z.string() }).nullable().meta({
      description:
        'The best frontal frame of a passed session, base64; only with `referenceFrame=true`, for 15 minutes and until a call has used it.',
    }),
  })
  .meta({ id: 'LivenessSession' })

type ReadSession = Awaited<ReturnType<Services['livenessSessions']['read']>>

/** Returns the fields of a session that the browser may read, too. */
export function toSessionFields({ sessionId, state, attemptsLeft, attempt }: ReadSession) {
  return {
    sessionId,
    state,
    attemptsLeft,
    steps: [...(attempt?.steps ?? [])],
    angles: [...(attempt?.angles ?? [])],
    expiresAtUtc: attempt ? new Date(attempt.expiresAtMs).toISOString() : null,
    framesMax: imagesPerCallMax,
  }
}

function toSession(state: ReadSession) {
  const fields = toSessionFields(state)
  const { decision = null, reasons = [], causes = [] } = state.result ?? {}
  return {
    ...fields,
    instructions: Object.fromEntries(fields.steps.map((step) => [step, stepInstructions[step]])),
    sessionToken: null,
    decision,
    reasons,
    causes,
    referenceFrame: null,
  }
}

export const createLivenessSession = defineRoute({
  method: 'POST',
  path: '/v1/liveness/sessions',
  name: 'createLivenessSession',
  summary:
    'Create a liveness session: random head movements that a person shows to the camera in up to three attempts.',
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
    requireAngles: z.boolean().default(false).meta({
      description:
        'Whether each movement must reach a random angle and not exceed it. The person needs guidance while moving.',
    }),
    requestId: z.string().refine(isUuid, 'must be a UUID').optional().meta({
      description: 'A call with the id of an earlier one returns the same session.',
    }),
  }),
  value: livenessSession,
  example: examples.livenessSession,
  run: async ({ body, caller, services: { livenessSessions } }) => {
    const { steps: stepCount, requestId } = body
    const requireAngles = body.requireAngles ? 1 : 0
    const request = { stepCount, requireAngles, requestId: requestId?.toLowerCase() } as const
    const { token, ...state } = await livenessSessions.create(caller, request)
    return { ...toSession(state), sessionToken: token ?? null }
  },
})

export const getLivenessSession = defineRoute({
  method: 'GET',
  path: '/v1/liveness/sessions/:sessionId',
  name: 'getLivenessSession',
  summary: 'Read the state, the result and the reference frame of a liveness session.',
  permission: 'svc.liveness',
  tag: 'face',
  pathParams: z.object({
    sessionId: z.string().min(1).max(128).meta({
      description: 'The id that POST /v1/liveness/sessions returned.',
    }),
  }),
  query: z.strictObject({
    referenceFrame: z.enum(['true', 'false']).default('false').meta({
      description: '`true` adds the reference frame of a passed session.',
    }),
  }),
  value: livenessSession,
  example: { ...examples.livenessSession, state: 'passed', decision: 'live' },
  run: async ({ pathParams, query, caller: { projectId }, services: { livenessSessions } }) => {
    const state = await livenessSessions.read(projectId, pathParams.sessionId)
    const isRequested = query.referenceFrame === 'true' && state.hasFrame
    const frame = isRequested ? livenessSessions.readFrame(projectId, state.sessionId) : null
    return { ...toSession(state), referenceFrame: await frame }
  },
})
