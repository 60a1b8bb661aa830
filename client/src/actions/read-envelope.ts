import type { ServiceResponse } from '../http/attempt.ts'
import type { Actions } from '../contract.ts'
import { FacegateError, type FacegateErrorCode, type Problem } from '../facegate-error.ts'
import { errorFromResponse, errorDetailsOf, isRecord } from '../http/response-error.ts'

export type ActionName = keyof Actions

/** The result of one image of a batch. */
export type ItemResult<Value> = { readonly index: number; readonly correlationId: string } & (
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly value: { readonly error: Problem } }
)

/** What an action answered. */
export type ActionResponse<Value> = {
  readonly requestId: string
  /** Whether the service had done it before and only said it again: true of many a retry. */
  readonly isReplay: boolean
  /** Never empty; of actions about one image exactly one. */
  readonly results: readonly [ItemResult<Value>, ...ItemResult<Value>[]]
}

/** @throws FacegateError when the envelope says `ok: false`, or when it is none. */
export function readEnvelope<Value>(answer: ServiceResponse): ActionResponse<Value> {
  const { status, body, requestId } = answer
  if (status !== 200 || !isRecord(body) || typeof body['ok'] !== 'boolean')
    throw errorFromResponse(answer)
  if (!body['ok']) throw new FacegateError(problemsOf(body['errors']), errorDetailsOf(answer))
  const { data, meta } = body
  const results = isRecord(data) && Array.isArray(data['results']) ? data['results'] : []
  if (results.length === 0) throw errorFromResponse(answer)
  return {
    requestId: requestId ?? String(body['requestId']),
    isReplay: isRecord(meta) && meta['idempotencyReplay'] === true,
    // The service checks every answer against the schemas that these types are made of.
    results: results as unknown as ActionResponse<Value>['results'],
  }
}

function problemsOf(errors: unknown): [Problem, ...Problem[]] {
  const list = Array.isArray(errors) ? errors.filter(isRecord) : []
  const [first = { code: 'BAD_ANSWER', message: 'failed without a reason' }, ...others] = list
  return [problemOf(first), ...others.map(problemOf)]
}

/** A newer service may have codes that this client does not know; they are passed on. */
function problemOf({ code, message }: Readonly<Record<string, unknown>>): Problem {
  return { code: String(code) as FacegateErrorCode, message: String(message) }
}
