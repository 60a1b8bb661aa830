import { type Action, type ActionCall, calibratedServices } from '../actions/action.ts'
import type { CallContent, UnreadableContent } from '../gate/call-states.ts'
import type { CallOutput, Settlement } from '../gate/settle.ts'
import { type Envelope, assertRoom, errorEnvelope, outcomeEnvelope } from '../http/envelope.ts'
import { type ErrorFormat, errorResponse, errorStatuses } from '../http/error-response.ts'
import type { ExecuteOptions } from '../http/execute.ts'
import { describeFields } from '../http/input/describe-request.ts'
import { requireValidParameters } from '../http/input/parse-json.ts'
import type { HttpRequest, HttpResponse, Route } from '../http/route.ts'
import { type RunnableCall, resultOf, runCall } from '../http/run-call.ts'
import { type RequestScope, requestIdHeader, serveRoute } from '../http/serve-route.ts'
import { runAsAccount } from '../lib/account-context.ts'
import { ActionError, type ActionErrorCode, type HttpError } from '../lib/errors.ts'
import type { KeyIdentity } from '../store/tenancy/keys.ts'
import type { DetectorKind } from './box-probability.ts'

/** A route of CompreFace: it parses its request to a call. */
export type CompreFaceRoute = {
  readonly method: Route['method']
  readonly path: string
  /** The status of a successful response. */
  readonly status: 200 | 201
  /** What is known of every call, and is checked, before its body is read; undefined without a body. */
  readonly known?: ((request: Pick<HttpRequest, 'queryText'>) => KnownCall) | undefined
  /** @throws ActionError or HttpError if the request is malformed; the gate rejects the call. */
  readonly parse: (request: CompreFaceRequest) => Promise<CompreFaceCall>
}

type KnownCall = Pick<CompreFaceCall, 'name' | 'permissions'>

/** A request with a valid API key. Its body has not been read. */
export type CompreFaceRequest = {
  readonly request: HttpRequest
  readonly caller: KeyIdentity
  readonly options: CompreFaceOptions
  /** The JSON body once it is read, also an invalid one: the request log must not contain its values. */
  readonly sent: { body?: unknown }
}

export type CompreFaceOptions = Pick<
  ExecuteOptions,
  'gate' | 'services' | 'log' | 'bodyBytesMax' | 'jsonLimits' | 'onCallCompleted'
> & {
  /** Determines the scale of the box probability. */
  readonly detectorKind: DetectorKind
}

/** A parsed request: one call with one price, one row in the request log and one result. */
export type CompreFaceCall = {
  /** Under this name it is priced, logged and counted: an action, or `METHOD /path` if it is free. */
  readonly name: string
  readonly permissions: readonly string[]
  readonly price: Action['price']
  readonly params: object
  readonly run: (context: CallContext) => Promise<CallOutput<CompreFaceReply>>
}

export type CallContext = Omit<ActionCall<unknown>, 'params' | 'debug'>

export type CompreFaceReply = Omit<Settlement<Envelope>, 'response'> & {
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Serves a route through the gate, as `http/execute.ts` serves an action. */
export function serveCompreFaceRoute(route: CompreFaceRoute, options: CompreFaceOptions): Route {
  return serveRoute(route, {
    headersOf: requestIdHeader,
    authenticate: (request) => options.gate.authenticate(request),
    read: (caller, { request, requestId }) =>
      readCall(route, { request, caller, options, sent: {} }, requestId),
    run: (call, scope) => executeAndReply(route, call, scope, options),
    toErrorResponse: (error, requestId) =>
      errorResponse(error, requestId, options.log, compreFaceErrorFormat),
  })
}

async function readCall(
  route: CompreFaceRoute,
  compreFaceRequest: CompreFaceRequest,
  requestId: string,
) {
  const { caller, options } = compreFaceRequest
  const { name, content } =
    (await rejectEarly(route, compreFaceRequest)) ??
    (await parseRequest(route, compreFaceRequest, requestId))
  // The images that a plugin analyzes again are checked when the call runs.
  if (!('error' in content))
    assertRoom(options.services.vision, { action: roomCheck, params: content.params, caller })
  const describe = () => describeRequest(compreFaceRequest, content)
  return { caller, content, action: name, describeRequest: describe }
}

async function executeAndReply(
  { status }: CompreFaceRoute,
  { caller, content, ...read }: Awaited<ReturnType<typeof readCall>>,
  { requestId, startMs, addHeaders }: RequestScope,
  { gate, onCallCompleted }: CompreFaceOptions,
): Promise<HttpResponse> {
  const received = { ...read, requestId, startMs }
  const end = await runCall({ caller, received, gate }, content)
  addHeaders(end.headers)
  const { response: envelope, reply, decision } = resultOf(end)
  onCallCompleted(envelope, performance.now() - startMs, decision)
  if (reply instanceof ActionError) throw reply
  return { status, headers: reply.headers ?? {}, body: reply.body }
}

/** Names of subjects are in the query, in the path, in the parameters or in the body. */
function describeRequest(
  { request: { query, pathParams }, sent }: CompreFaceRequest,
  content: CallContent | UnreadableContent,
) {
  const params = 'params' in content ? content.params : undefined
  const values = [[...query].flat(), Object.values(pathParams), params, sent.body]
  return describeFields(['subject'], ...values)
}

const roomCheck = { analyzesAllImages: true } as const

type CompreFaceSettlement = Settlement<Envelope> & {
  /** What the client receives. It is not stored. */
  readonly reply: CompreFaceReply | ActionError
}

/** Returns a call that the gate rejects, if that is certain before the body is read. */
async function rejectEarly(
  { known }: CompreFaceRoute,
  { request, caller, options: { gate, bodyBytesMax } }: CompreFaceRequest,
) {
  if (!known) return undefined
  request.body.accept(caller, bodyBytesMax)
  const { name, permissions } = known(request)
  const error = await gate.findEarlyRejection({ caller, permissions })
  return error && { name, content: { error, permissions } }
}

/** An error of the parser is kept: the gate checks the caller's permissions before it returns it. */
async function parseRequest(
  route: CompreFaceRoute,
  compreFaceRequest: CompreFaceRequest,
  requestId: string,
) {
  try {
    requireValidParameters(compreFaceRequest.request)
    const { accountId } = compreFaceRequest.caller
    // Some routes read the gallery to build their call.
    const call = await runAsAccount(accountId, () => route.parse(compreFaceRequest))
    return { name: call.name, content: toRunnableCall(call, compreFaceRequest, requestId) }
  } catch (error) {
    return { name: `${route.method} ${route.path}`, content: { error } }
  }
}

function toRunnableCall(
  { name, params, permissions, price, run }: CompreFaceCall,
  { request: { method, signal }, options: { gate, services } }: CompreFaceRequest,
  requestId: string,
): RunnableCall<CompreFaceReply, CompreFaceSettlement> {
  return {
    params,
    permissions,
    debug: false,
    action: { price },
    signal,
    run: (admitted) => {
      const calibrated = calibratedServices(services, admitted)
      const runNow = () => run({ caller: admitted, services: calibrated, signal, requestId })
      const turn = { owner: admitted.keyId, signal }
      // Only lists have the method GET.
      return method === 'GET' ? gate.queueRead(admitted.accountId, runNow, turn) : runNow()
    },
    toSettlement: (reply) => toSettlement(reply, { requestId, action: name }),
  }
}

/**
 * The stored envelope contains no result: every request gets a new id, so it is never replayed.
 */
function toSettlement(
  reply: CompreFaceReply | ActionError,
  echoed: Parameters<typeof errorEnvelope>[0],
): CompreFaceSettlement {
  if (reply instanceof ActionError) return { response: errorEnvelope(echoed, reply), reply }
  const response = outcomeEnvelope(echoed, [{ correlationId: undefined, value: {} }])
  return { ...reply, response, reply }
}

/** Responds with `{message, code}` as CompreFace does. Clients detect images without a face by code 28. */
export const compreFaceErrorFormat: ErrorFormat = {
  statuses: errorStatuses.compreFace,
  faultMessage: 'Internal error; the log contains the details.',
  toBody: (error) =>
    error instanceof ActionError
      ? { message: messageOf(error), code: codes[error.code] ?? validationErrorCode }
      : { message: error.message, code: codeOf(error) },
}

const undefinedErrorCode = 0
const unknownNameCode = 11
const missingHeaderCode = 20
const validationErrorCode = 26
const serverErrorCode = 41

/** The numbers of `CommonExceptionCode` in CompreFace. Any other code is a validation error. */
const codes: Partial<Record<ActionErrorCode, number>> = {
  NO_FACE_FOUND: 28,
  FACE_TOO_SMALL: 28,
  MULTIPLE_FACES: 31,
  IMAGE_DECODE_FAILED: 21,
  UNSUPPORTED_IMAGE_TYPE: 21,
  SUBJECT_NOT_FOUND: unknownNameCode,
  FORBIDDEN: undefinedErrorCode,
  PAYMENT_REQUIRED: undefinedErrorCode,
  RATE_LIMITED: undefinedErrorCode,
}

function codeOf({ status }: HttpError): number {
  if (status === 401) return missingHeaderCode
  if (status === 404) return unknownNameCode
  return status >= 500 ? serverErrorCode : validationErrorCode
}

/** Returns the message of CompreFace where clients compare it, else our message with its code. */
function messageOf({ code, message }: ActionError): string {
  if (code === 'NO_FACE_FOUND') return 'No face is found in the given image'
  return `${message} (${code})`
}
