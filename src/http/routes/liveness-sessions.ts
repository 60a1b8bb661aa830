import { z } from 'zod'
import { attemptCauses, challengeStep } from '../../actions/schemas/challenge.ts'
import { livenessReasons } from '../../actions/schemas/liveness.ts'
import type { Services } from '../../actions/action.ts'
import { isUuid } from '../../lib/ids.ts'
import { imagesPerCallMax } from '../../lib/limits/call-limits.ts'
import examples from './examples.json' with { type: 'json' }
import { defineRoute } from './rest-route.ts'
import texts from '../../actions/schemas/field-texts.json' with { type: 'json' }

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
  state: z.enum(['open', 'passed', 'failed', 'expired']).describe(texts.livenessSessions.state),
  attemptsLeft: z.int().min(0).describe(texts.livenessSessions.attemptsLeft),
  steps: z.array(challengeStep).describe(texts.livenessSessions.steps),
  angles: z
    .array(z.object({ degreesMin: z.number(), degreesMax: z.number() }))
    .describe(texts.livenessSessions.angles),
  expiresAtUtc: z.string().nullable().describe(texts.livenessSessions.expiresAtUtc),
  framesMax: z.int().describe(texts.livenessSessions.framesMax),
}

export const livenessSession = z
  .object({
    ...sessionFields,
    instructions: z.record(z.string(), z.string()).describe(texts.livenessSessions.instructions),
    sessionToken: z.string().nullable().describe(texts.livenessSessions.sessionToken),
    decision: z
      .enum(['live', 'spoof', 'uncertain'])
      .nullable()
      .describe(texts.livenessSessions.decision),
    reasons: z.array(z.string()).meta({
      description: `Of the last attempt: codes of svc.liveness (${livenessReasons.join(', ')}) or of the error of a frame.`,
    }),
    causes: attemptCauses,
    referenceFrame: z
      .object({ bytes: z.string(), contentType: z.string() })
      .nullable()
      .describe(texts.livenessSessions.referenceFrame),
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

export const createLivenessSession = defineRoute('POST', '/v1/liveness/sessions', {
  name: 'createLivenessSession',
  summary:
    'Create a liveness session: random head movements that a person shows to the camera in up to three attempts.',
  permission: 'svc.liveness',
  tag: 'face',
  query: z.strictObject({}),
  body: z.strictObject({
    steps: z.int().min(2).max(4).default(3).describe(texts.livenessSessions.stepCount),
    requireAngles: z.boolean().default(true).describe(texts.livenessSessions.requireAngles),
    requestId: z
      .string()
      .refine(isUuid, 'must be a UUID')
      .optional()
      .describe(texts.livenessSessions.requestId),
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

export const getLivenessSession = defineRoute('GET', '/v1/liveness/sessions/:sessionId', {
  name: 'getLivenessSession',
  summary: 'Read the state, the result and the reference frame of a liveness session.',
  permission: 'svc.liveness',
  tag: 'face',
  pathParams: z.object({
    sessionId: z.string().min(1).max(128).describe(texts.livenessSessions.sessionId),
  }),
  query: z.strictObject({
    referenceFrame: z
      .enum(['true', 'false'])
      .default('false')
      .describe(texts.livenessSessions.queryReferenceFrame),
  }),
  value: livenessSession,
  isLong: ({ referenceFrame }) => referenceFrame === 'true',
  example: { ...examples.livenessSession, state: 'passed', decision: 'live' },
  run: async ({ pathParams, query, caller: { projectId }, services: { livenessSessions } }) => {
    const state = await livenessSessions.read(projectId, pathParams.sessionId)
    const isRequested = query.referenceFrame === 'true' && state.hasFrame
    const frame = isRequested ? livenessSessions.readFrame(projectId, state.sessionId) : null
    return { ...toSession(state), referenceFrame: await frame }
  },
})
