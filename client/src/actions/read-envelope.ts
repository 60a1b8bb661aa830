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

/** The response of an action. */
export type ActionResponse<Value> = {
  readonly requestId: string
  /** Whether the service returned the stored result of an earlier request with the same id. */
  readonly isReplay: boolean
  /** Whether its identities were removed, because a subject was deleted after the earlier request. */
  readonly isRedacted: boolean
  /** Whether the stored result has no crops, because they were large: see `replayCrops`. */
  readonly areCropsOmitted: boolean
  /** Never empty. Actions about one image return exactly one result. */
  readonly results: readonly [ItemResult<Value>, ...ItemResult<Value>[]]
}

/** The price of a call that was only checked. */
export type CallValidation = {
  /** If every image succeeds, in micro-units of the currency. */
  readonly priceMicros: bigint
  /** Whether the project is charged for its calls. */
  readonly billing: boolean
}

/** Reads the response to a call with `validateOnly`. @throws FacegateError as `readEnvelope`. */
export function readValidation(response: ServiceResponse): CallValidation {
  const { data } = readSuccess(response)
  const validation = isRecord(data) ? data['validation'] : undefined
  if (!isRecord(validation)) throw errorFromResponse(response)
  const { priceMicros, billing } = validation
  return { priceMicros: BigInt(String(priceMicros)), billing: billing === true }
}

function readSuccess(response: ServiceResponse): Readonly<Record<string, unknown>> {
  const { status, body } = response
  if (status !== 200 || !isRecord(body) || typeof body['ok'] !== 'boolean')
    throw errorFromResponse(response)
  if (!body['ok']) throw new FacegateError(problemsOf(body['errors']), errorDetailsOf(response))
  return body
}

/** @throws FacegateError when the envelope has `ok: false`, or the body is not an envelope. */
export function readEnvelope<Value>(response: ServiceResponse): ActionResponse<Value> {
  const { requestId } = response
  const body = readSuccess(response)
  const { data, meta } = body
  const results = isRecord(data) && Array.isArray(data['results']) ? data['results'] : []
  if (results.length === 0) throw errorFromResponse(response)
  return {
    requestId: requestId ?? String(body['requestId']),
    isReplay: isRecord(meta) && meta['idempotencyReplay'] === true,
    isRedacted: isRecord(meta) && meta['redacted'] === true,
    areCropsOmitted: isRecord(meta) && meta['cropsOmitted'] === true,
    // The service validates every response against the schemas that generate these types.
    results: results as unknown as ActionResponse<Value>['results'],
  }
}

function problemsOf(errors: unknown): [Problem, ...Problem[]] {
  const list = Array.isArray(errors) ? errors.filter(isRecord) : []
  const noReason = { code: 'BAD_RESPONSE', message: 'the response contains no error code' }
  const [first = noReason, ...others] = list
  return [problemOf(first), ...others.map(problemOf)]
}

const textDetails = ['path', 'correlationId', 'subjectId', 'hint'] as const

/** Keeps unknown codes: a newer service may return codes that this client does not list. */
function problemOf(error: Readonly<Record<string, unknown>>): Problem {
  const { code, message, imageIndex } = error
  const texts = textDetails.flatMap((name) => {
    const text = error[name]
    return typeof text === 'string' ? [[name, text]] : []
  })
  return {
    code: String(code) as FacegateErrorCode,
    message: String(message),
    ...(typeof imageIndex === 'number' && { imageIndex }),
    ...Object.fromEntries(texts),
  }
}
