import type { ItemOutcome } from '../actions/action.ts'
import type { EchoedFields } from './input/read-call.ts'
import type { ActionError, ActionErrorCode } from '../lib/errors.ts'

type EnvelopeError = { readonly code: ActionErrorCode; readonly message: string }

type EnvelopeResult = {
  readonly index: number
  readonly correlationId: string
  readonly ok: boolean
  readonly value: unknown
}

/** The one form of every answer to an understood call. `ok` ⇔ no errors ⇔ there is data. */
export type Envelope = {
  readonly ok: boolean
  readonly requestId: string
  readonly action: string
  readonly data: { readonly results: readonly EnvelopeResult[] } | null
  readonly errors: readonly EnvelopeError[]
  readonly meta?: { readonly idempotencyReplay: true }
}

/** The answer to an action that ran. A batch is ok if one item is; if none is, all are errors. */
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

/** The answer to an action that was refused or could not do its work. */
export function errorEnvelope({ requestId, action }: EchoedFields, error: ActionError): Envelope {
  return { ok: false, requestId, action, data: null, errors: error.problems }
}

/** The stored answer to the same request, as it left the first time but for the flag. */
export function replayEnvelope(stored: string, requestId: string): Envelope {
  // It was sealed by this service, as an envelope of its own.
  const original = JSON.parse(stored) as Envelope
  return { ...original, requestId, meta: { idempotencyReplay: true } }
}

function toEnvelopeResult(outcome: ItemOutcome, index: number): EnvelopeResult {
  const correlationId = outcome.correlationId ?? `auto-${index}`
  return 'error' in outcome
    ? { index, correlationId, ok: false, value: { error: outcome.error } }
    : { index, correlationId, ok: true, value: outcome.value }
}
