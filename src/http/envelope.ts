import type { ItemOutcome } from '../actions/action.ts'
import type { Settlement } from '../gate/settle.ts'
import type { ActionError, ActionProblem } from '../lib/errors.ts'
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
  readonly data: { readonly results: readonly EnvelopeResult[] } | null
  readonly errors: readonly ActionProblem[]
  readonly meta?: { readonly idempotencyReplay: true }
}

/** Returns the envelope of a call that did not fail with an HTTP error. */
export function toEnvelope(
  end: Exclude<CallEnd<Settlement<Envelope>>, { readonly kind: 'failed' }>,
  echoed: EchoedFields,
): Envelope {
  if (end.kind === 'settled') return end.settlement.response
  if (end.kind === 'rejected') return errorEnvelope(echoed, end.error)
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

/** Returns the envelope of a call that was rejected or could not be completed. */
export function errorEnvelope({ requestId, action }: EchoedFields, error: ActionError): Envelope {
  return { ok: false, requestId, action, data: null, errors: error.problems }
}

/** Returns the stored envelope of an earlier call with the same request id, marked as a replay. */
function replayEnvelope(stored: string, requestId: string): Envelope {
  // This service has stored it as an envelope.
  const original = JSON.parse(stored) as Envelope
  return { ...original, requestId, meta: { idempotencyReplay: true } }
}

function toEnvelopeResult(outcome: ItemOutcome, index: number): EnvelopeResult {
  const correlationId = outcome.correlationId ?? `auto-${index}`
  return 'error' in outcome
    ? { index, correlationId, ok: false, value: { error: outcome.error } }
    : { index, correlationId, ok: true, value: outcome.value }
}
