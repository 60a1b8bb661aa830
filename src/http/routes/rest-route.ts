import { z } from 'zod'
import type { Caller, Services } from '../../actions/action.ts'
import type { Gate } from '../../gate/gate.ts'
import { ActionError, HttpError, type ActionErrorCode } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { toMessage } from '../../lib/validation/describe-issue.ts'
import { parseInput } from '../../lib/validation/parse-input.ts'
import type { Log } from '../../lib/log.ts'
import { runAsAccount } from '../../lib/account-context.ts'
import { addCallAttributes } from '../../lib/observability/call-trace.ts'
import type { HttpResponse, HttpRequest, Route } from '../route.ts'
import { errorResponse } from '../error-response.ts'
import { describeFields } from '../input/describe-request.ts'
import { parseJson } from '../input/parse-json.ts'
import { readBody } from '../input/read-body.ts'
import type { ReadCallOptions } from '../input/read-call.ts'
import { requireStorable, requireStorableParameters } from '../input/storable.ts'
import { parseResponse } from './parse-response.ts'

/** A route that needs a key. It returns plain JSON with HTTP statuses, without an envelope. */
export type RestRoute<Query extends z.ZodType = z.ZodType, Body extends z.ZodType = z.ZodType> = {
  readonly method: 'GET' | 'DELETE' | 'POST'
  /** `:name` matches one part of the path. */
  readonly path: string
  readonly name: string
  readonly summary: string
  readonly permission: string
  /** The section of the API description; `gallery` by default. */
  readonly tag?: 'face'
  readonly query: Query
  /** The schema of the JSON body. Without it the body is not read. */
  readonly body?: Body
  readonly value: z.ZodType
  /** A response for the documentation. */
  readonly example: unknown
  readonly run: (call: RestCall<z.output<Query>, z.output<Body>>) => Promise<unknown>
}

type RestCall<Query, Body> = {
  readonly query: Query
  /** Valid only in a route with a schema of the body. */
  readonly body: Body
  /** The values of the `:name` parts of the path. */
  readonly pathParams: Readonly<Record<string, string>>
  readonly caller: Caller
  readonly services: Services
}

/** Infers the types of `run` from the schemas. */
export function defineRoute<Query extends z.ZodType, Body extends z.ZodType = z.ZodUndefined>(
  route: RestRoute<Query, Body>,
): RestRoute {
  return route
}

export type RestOptions = Pick<ReadCallOptions, 'bodyBytesMax' | 'jsonLimits'> & {
  readonly gate: Gate
  readonly services: Services
  readonly log: Log
}

/** Returns the server route: the checks of the gate, the work, the log row. */
export function serveRest(route: RestRoute, options: RestOptions): Route {
  const { method, path } = route
  return { method, path, handle: (request) => handleRest(route, request, options) }
}

async function handleRest(
  route: RestRoute,
  request: HttpRequest,
  options: RestOptions,
): Promise<HttpResponse> {
  const { gate, log } = options
  const requestId = newId()
  addCallAttributes({ requestId })
  const startMs = performance.now()
  const caller = await gate.authenticate(request) // before the body is read
  let headers: HttpResponse['headers'] = {}
  try {
    const { sentBody, ...incoming } = await readIncomingCall(route, request, caller, options)
    const result = await gate.admit(caller, { requestId, startMs, ...incoming })
    headers = result.headers
    if (result.kind === 'rejected') throw result.error
    if (result.kind === 'replay') throw new Error('a route call has a new requestId')
    const body = await runAndFinish(route, request, {
      ...options,
      caller,
      sentBody,
      admission: result.admission,
    })
    return { status: 200, headers: { ...headers, 'x-request-id': requestId }, body }
  } catch (error) {
    const response = errorResponse(toHttpError(error), requestId, log)
    return { ...response, headers: { ...headers, ...response.headers } }
  }
}

/**
 * Reads the body, if the route has one. The call costs nothing and has a new id, so it is never a
 * retry. The gate reports an error.
 */
async function readIncomingCall(
  route: RestRoute,
  request: HttpRequest,
  { keyId }: Pick<Caller, 'keyId'>,
  { bodyBytesMax, jsonLimits }: RestOptions,
) {
  const { method, path, permission, body } = route
  const action = `${method} ${path}`
  const permissions = [permission]
  try {
    if ((request.headers['x-api-version'] ?? '1') !== '1')
      throw new HttpError(400, 'X-Api-Version must be 1.')
    if (body) request.body.accept(keyId, bodyBytesMax)
    const sentBody = body && parseJson(await readBody(request, bodyBytesMax), jsonLimits)
    const parsed = { action: { price: () => 0 }, params: {}, debug: false, permissions }
    return {
      action,
      parsed,
      sentBody,
      describeRequest: () => describeSent(route, request, sentBody),
    }
  } catch (error) {
    const describe = () => describeSent(route, request, undefined)
    const parsed = { error, permissions }
    return { action, parsed, sentBody: undefined, describeRequest: describe }
  }
}

function describeSent({ query, body }: RestRoute, request: HttpRequest, sentBody: unknown) {
  const names = [query, body].flatMap((schema) =>
    schema instanceof z.ZodObject ? Object.keys(schema.shape) : [],
  )
  const queryValues = [...request.query].flat()
  return describeFields(names, queryValues, Object.values(request.pathParams), sentBody)
}

type AdmittedRestCall = RestOptions & {
  readonly caller: Caller
  /** The parsed JSON body; its fields are not validated. */
  readonly sentBody: unknown
  readonly admission: Parameters<Gate['finish']>[0]
}

/** Runs the route, then ends the call at the gate, which logs it. */
async function runAndFinish(
  route: RestRoute,
  request: HttpRequest,
  admitted: AdmittedRestCall,
): Promise<unknown> {
  const { gate, services, caller, sentBody, admission } = admitted
  try {
    requireStorableParameters(request)
    requireStorable(sentBody, 'body')
    const query = parseFields(route.query, Object.fromEntries(request.query), 'query')
    const body = route.body && parseFields(route.body, sentBody, 'body')
    const call = { query, body, pathParams: request.pathParams, caller, services }
    const value = await runAsAccount(caller.accountId, () => route.run(call))
    const response = await parseResponse(route.value, value)
    await gate.finish(admission)
    return response
  } catch (error) {
    throw await gate.release(admission, error)
  }
}

/** @throws ActionError INVALID_REQUEST that names every invalid parameter of the query or the body. */
function parseFields<Fields extends z.ZodType>(
  schema: Fields,
  fields: unknown,
  location: 'query' | 'body',
): z.output<Fields> {
  const result = parseInput(schema, fields, location)
  if (result.success) return result.data
  throw new ActionError('INVALID_REQUEST', result.problems.map(toMessage))
}

/** The HTTP status of each error code that a route can return. */
const errorStatuses: Partial<Record<ActionErrorCode, number>> = {
  INVALID_REQUEST: 400,
  PAYMENT_REQUIRED: 402,
  FORBIDDEN: 403,
  SUBJECT_NOT_FOUND: 404,
  GROUP_NOT_FOUND: 404,
  RATE_LIMITED: 429,
}

/** A response without an envelope has no field for the remedy. */
function toDetail({ problems }: ActionError): string {
  return problems
    .map(({ code, message, hint }) =>
      hint === undefined || code === 'INVALID_REQUEST' ? message : `${message} ${hint}`,
    )
    .join('; ')
}

function toHttpError(error: unknown): unknown {
  const status = error instanceof ActionError ? errorStatuses[error.code] : undefined
  if (!(error instanceof ActionError) || !status) return error
  const { retryAfterS } = error
  const headers = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
  return new HttpError(status, toDetail(error), { headers })
}
