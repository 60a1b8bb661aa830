import {
  type Action,
  type Caller,
  type ItemOutcome,
  type ItemOutcomes,
  type Services,
  calibratedServices,
} from '../actions/action.ts'
import type { Quote } from '../gate/gate.ts'
import type { Settlement } from '../gate/settle.ts'
import { ActionError, type ActionProblem, toProblem } from '../lib/errors.ts'
import { uuidsInText } from '../lib/ids.ts'
import { bestDecision } from '../lib/observability/call-decision.ts'
import { sentImages } from '../lib/validation/sent-images.ts'
import type { ActionContent, EchoedFields } from './input/read-call.ts'
import type { CallEnd, RunnableCall } from './run-call.ts'

type EnvelopeResult = {
  readonly index: number
  readonly correlationId: string
  readonly ok: boolean
  readonly value: unknown
}

/** The response body of every admitted or rejected call. `ok` ⇔ no errors ⇔ there is data. */
export type Envelope = {
  readonly ok: boolean
  readonly requestId: string
  readonly action: string
  readonly data: {
    readonly results: readonly EnvelopeResult[]
    /** Of a call that was only checked; it has no results. */
    readonly validation?: { readonly priceMicros: string; readonly billing: boolean }
  } | null
  readonly errors: readonly ActionProblem[]
  readonly meta?: {
    readonly idempotencyReplay?: true
    /** A subject was deleted after the original response. */
    readonly redacted?: true
    /** The stored response has no crops, because they were large. */
    readonly cropsOmitted?: true
  }
}

/** Returns the envelope of a call that did not fail with an HTTP error. */
export function toEnvelope(
  end: Exclude<CallEnd<Settlement<Envelope>>, { readonly kind: 'failed' }>,
  echoed: EchoedFields,
): Envelope {
  if (end.kind === 'completed') return end.result.response
  if (end.kind === 'rejected') return rejectionEnvelope(echoed, end.error)
  return replayEnvelope(end.response, echoed.requestId)
}

/** Returns the envelope of an action that ran. A batch fails only if all its items fail. */
export function outcomeEnvelope(
  { requestId, action }: EchoedFields,
  outcomes: readonly ItemOutcome[],
): Envelope {
  const failures = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []))
  const isFailed = failures.length > 0 && failures.length === outcomes.length
  return {
    ok: !isFailed,
    requestId,
    action,
    data: isFailed ? null : { results: outcomes.map(toEnvelopeResult) },
    errors: isFailed ? failures : [],
  }
}

/** Returns the envelope of a valid call that was only checked. */
export function validationEnvelope(
  { requestId, action }: EchoedFields,
  { priceMicros, isBilled }: Quote,
): Envelope {
  const validation = { priceMicros: String(priceMicros), billing: isBilled }
  return { ok: true, requestId, action, data: { results: [], validation }, errors: [] }
}

/** Returns the envelope that is stored for replays if it is not the response itself. */
function storedEnvelope(
  echoed: EchoedFields,
  outcomes: readonly ItemOutcome[],
): Envelope | undefined {
  if (!outcomes.some((outcome) => 'valueWithoutCrops' in outcome)) return undefined
  const stored = outcomes.map((outcome) =>
    'valueWithoutCrops' in outcome ? { ...outcome, value: outcome.valueWithoutCrops } : outcome,
  )
  return { ...outcomeEnvelope(echoed, stored), meta: { cropsOmitted: true } }
}

/** Returns the envelope of a call that was rejected or could not be completed. */
export function errorEnvelope({ requestId, action }: EchoedFields, error: ActionError): Envelope {
  return { ok: false, requestId, action, data: null, errors: error.problems }
}

/**
 * Returns the envelope of a call that was rejected before its parameters were read. Each error carries
 * the correlation id of its image, and without an image that of the first one if it has one.
 */
function rejectionEnvelope(echoed: EchoedFields, error: ActionError): Envelope {
  const { correlationIds = [] } = echoed
  const complete = (problem: ActionProblem): ActionProblem => {
    const { imageIndex } = problem
    const sent = correlationIds[imageIndex ?? 0]
    const correlationId = sent ?? (imageIndex === undefined ? undefined : `auto-${imageIndex}`)
    return correlationId === undefined ? problem : toProblem({ correlationId, ...problem })
  }
  return errorEnvelope(echoed, error.mapProblems(complete))
}

/** Returns the stored envelope of an earlier call with the same request id, marked as a replay. */
function replayEnvelope(stored: string, requestId: string): Envelope {
  // This service has stored it as an envelope.
  const original = JSON.parse(stored) as Envelope
  return { ...original, requestId, meta: { ...original.meta, idempotencyReplay: true } }
}

function toEnvelopeResult(outcome: ItemOutcome, index: number): EnvelopeResult {
  const correlationId = outcome.correlationId ?? `auto-${index}`
  return 'error' in outcome
    ? { index, correlationId, ok: false, value: { error: outcome.error } }
    : { index, correlationId, ok: true, value: outcome.value }
}

/**
 * Returns the ids of stored subjects and faces that an error contains. `SUBJECT_NOT_FOUND` contains only
 * the id of the request.
 */
function storedIdsOf({ problems }: ActionError): readonly string[] {
  const texts = problems
    .filter(namesSubject)
    .map(({ subjectId, message }) => `${subjectId} ${message}`)
  return [...new Set(texts.flatMap((text) => text.match(uuidsInText) ?? []))]
}

/** Returns the error without the ids of stored subjects and faces. */
function withoutStoredIds(error: ActionError): ActionError {
  return error.mapProblems((problem) => {
    if (!namesSubject(problem)) return problem
    const { subjectId: _, ...rest } = problem
    return { ...rest, message: problem.message.replaceAll(uuidsInText, '[deleted]') }
  })
}

function namesSubject({ code, subjectId }: ActionProblem): boolean {
  return subjectId !== undefined && code !== 'SUBJECT_NOT_FOUND'
}

export type ActionContext = {
  readonly echoed: EchoedFields
  /** The caller before its admission; the action runs for the one that was admitted. */
  readonly caller: Pick<Caller, 'accountId' | 'projectId'>
  readonly services: Services
  readonly signal: AbortSignal
}

/**
 * Combines the content of a call with what its action needs and with the envelope of its response.
 *
 * @throws HttpError 503 if the vision workers have no room for its images.
 */
export function toRunnableCall(
  content: ActionContent,
  { echoed, caller, services, signal }: ActionContext,
): RunnableCall<ItemOutcomes, Settlement<Envelope>> {
  const { action, params, debug } = content
  assertRoom(services.vision, { action, params, caller })
  const analyses: Services['analyses'] = new Map()
  return {
    ...content,
    signal,
    run: async (admitted) => {
      const calibrated = calibratedServices(services, admitted)
      const { requestId } = echoed
      const ofCall = { ...calibrated, analyses }
      const call = { params, caller: admitted, services: ofCall, signal, debug, requestId }
      const result = await action.run(call)
      return 'effect' in result ? result : { outcome: result }
    },
    toSettlement: (outcomes) =>
      outcomes instanceof ActionError
        ? toErrorSettlement(echoed, outcomes)
        : toSettlement(echoed, action, outcomes.map(action.validate)),
  }
}

/** Builds the response of a failed call, and its copy without the ids of deleted subjects. */
function toErrorSettlement(echoed: EchoedFields, error: ActionError) {
  const response = errorEnvelope(echoed, error)
  const subjectIds = storedIdsOf(error)
  if (subjectIds.length === 0) return { response }
  const scrubbed = { ...errorEnvelope(echoed, withoutStoredIds(error)), meta: redacted }
  return { response, subjectIds, scrubbed }
}

const redacted = { redacted: true } as const

/** Builds the response, and the scrubbed copy that replaces it once one of its subjects is deleted. */
function toSettlement(echoed: EchoedFields, action: Action, outcomes: ItemOutcomes) {
  const response = outcomeEnvelope(echoed, outcomes)
  const stored = storedEnvelope(echoed, outcomes)
  const subjectIds = outcomes.flatMap((outcome) => outcome.subjectIds ?? [])
  const scrubbed =
    subjectIds.length > 0
      ? {
          ...outcomeEnvelope(echoed, outcomes.map(action.scrub)),
          meta: redacted,
        }
      : undefined
  const unbilledImages = outcomes.reduce((sum, outcome) => sum + (outcome.unbilledImages ?? 0), 0)
  const scores = outcomes.flatMap(action.scores)
  const faceEvents = outcomes.flatMap((outcome, resultIndex) =>
    (outcome.faceEvents ?? []).map((event) => ({ resultIndex, ...event })),
  )
  const decision = bestDecision(outcomes.flatMap((outcome) => outcome.decision ?? []))
  return { response, stored, subjectIds, unbilledImages, scrubbed, scores, faceEvents, decision }
}

type RoomCheck = {
  readonly action: Pick<Action, 'analyzesAllImages'>
  /** The parameters as the client sent them. */
  readonly params: unknown
  readonly caller: Parameters<Services['vision']['assertRoom']>[1]
}

/**
 * Rejects a call for whose images the vision workers have no room, before its admission. A rejected
 * call therefore costs no transaction, and overload does not slow down the accepted calls. It is not
 * logged, consumes no rate-limit token and is counted in the metrics.
 *
 * @throws HttpError 503 with Retry-After.
 */
export function assertRoom(vision: Services['vision'], { action, params, caller }: RoomCheck) {
  // The action rejects everything else in there.
  const images = sentImages(params).filter(hasBytes)
  const { analyzesAllImages: all = false } = action
  const analyzed = (typeof all === 'function' ? all(params) : all) ? images : images.slice(0, 1)
  if (analyzed.length > 0) vision.assertRoom(analyzed, caller)
}

function hasBytes(image: unknown): image is { readonly bytes: string } {
  return typeof (Object(image) as { readonly bytes?: unknown }).bytes === 'string'
}
