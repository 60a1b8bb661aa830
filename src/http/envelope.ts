import type { ItemOutcome } from '../actions/action.ts'
import type { Quote } from '../gate/quote-price.ts'
import type { Settlement } from '../gate/settle.ts'
import { toProblem, type ActionError, type ActionProblem } from '../lib/errors.ts'
import { uuidsInText } from '../lib/ids.ts'
import type { EchoedFields } from './input/read-call.ts'
import type { CallEnd } from './run-call.ts'

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
  if (end.kind === 'settled') return end.settlement.response
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
export function storedEnvelope(
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
export function storedIdsOf({ problems }: ActionError): readonly string[] {
  const texts = problems
    .filter(namesSubject)
    .map(({ subjectId, message }) => `${subjectId} ${message}`)
  return [...new Set(texts.flatMap((text) => text.match(uuidsInText) ?? []))]
}

/** Returns the error without the ids of stored subjects and faces. */
export function withoutStoredIds(error: ActionError): ActionError {
  return error.mapProblems((problem) => {
    if (!namesSubject(problem)) return problem
    const { subjectId: _, ...rest } = problem
    return { ...rest, message: problem.message.replaceAll(uuidsInText, '[deleted]') }
  })
}

function namesSubject({ code, subjectId }: ActionProblem): boolean {
  return subjectId !== undefined && code !== 'SUBJECT_NOT_FOUND'
}
