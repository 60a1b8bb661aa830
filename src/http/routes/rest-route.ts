import type { z } from 'zod'
import type { Caller, Services } from '../../actions/action.ts'
import type { Gate } from '../../gate/gate.ts'
import { ActionError, HttpError, type ActionErrorCode } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { runAsAccount } from '../../lib/account-context.ts'
import { addCallAttributes } from '../../lib/observability/call-trace.ts'
import type { HttpResponse, HttpRequest, Route } from '../route.ts'
import { errorResponse } from '../error-response.ts'
import { requireStorableParameters } from '../input/storable.ts'
import { parseResponse } from './parse-response.ts'

/** A route that needs a key. It returns plain JSON with HTTP statuses, without an envelope. */
export type RestRoute<Query extends z.ZodType = z.ZodType> = {
  readonly method: 'GET' | 'DELETE'
  /** `:name` matches one part of the path. */
  readonly path: string
  readonly name: string
  readonly summary: string
  readonly permission: string
  readonly query: Query
  readonly value: z.ZodType
  /** A response for the documentation. */
  readonly example: unknown
  readonly run: (call: RestCall<z.output<Query>>) => Promise<unknown>
}

type RestCall<Query> = {
  readonly query: Query
  /** The values of the `:name` parts of the path. */
  readonly pathParams: Readonly<Record<string, string>>
  readonly caller: Caller
  readonly services: Services
}

/** Infers the query type of `run` from the schema. */
export function defineRoute<Query extends z.ZodType>(route: RestRoute<Query>): RestRoute {
  return route
}

export type RestOptions = { readonly gate: Gate; readonly services: Services; readonly log: Log }

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
  const caller = await gate.authenticate(request)
  let headers: HttpResponse['headers'] = {}
  try {
    const result = await gate.admit(caller, {
      requestId,
      startMs,
      ...toIncomingCall(route, request),
    })
    headers = result.headers
    if (result.kind === 'rejected') throw result.error
    if (result.kind === 'replay') throw new Error('a route call has a new requestId')
    const body = await runAndFinish(route, request, {
      ...options,
      caller,
      admission: result.admission,
    })
    return { status: 200, headers: { ...headers, 'x-request-id': requestId }, body }
  } catch (error) {
    const response = errorResponse(toHttpError(error), requestId, log)
    return { ...response, headers: { ...headers, ...response.headers } }
  }
}

/** The call costs nothing and has a new id, so it is never a retry. */
function toIncomingCall({ method, path, permission }: RestRoute, { headers }: HttpRequest) {
  const action = `${method} ${path}`
  const isSupported = (headers['x-api-version'] ?? '1') === '1'
  if (!isSupported)
    return { action, parsed: { error: new HttpError(400, 'X-Api-Version must be 1.') } }
  const call = { action: { price: () => 0 }, params: {}, debug: false, permissions: [permission] }
  return { action, parsed: call }
}

type AdmittedRestCall = RestOptions & {
  readonly caller: Caller
  readonly admission: Parameters<Gate['finish']>[0]
}

/** Runs the route, then ends the call at the gate, which logs it. */
async function runAndFinish(
  route: RestRoute,
  request: HttpRequest,
  admitted: AdmittedRestCall,
): Promise<unknown> {
  const { gate, services, caller, admission } = admitted
  try {
    requireStorableParameters(request)
    const query = parseQuery(route.query, request.query)
    const call = { query, pathParams: request.pathParams, caller, services }
    const value = await runAsAccount(caller.accountId, () => route.run(call))
    const body = await parseResponse(route.value, value)
    await gate.finish(admission)
    return body
  } catch (error) {
    throw await gate.release(admission, error)
  }
}

/** @throws ActionError INVALID_REQUEST that names every invalid parameter. */
function parseQuery<Query extends z.ZodType>(schema: Query, query: URLSearchParams) {
  const result = schema.safeParse(Object.fromEntries(query))
  if (result.success) return result.data
  const problems = result.error.issues.map((issue) =>
    issue.code === 'unrecognized_keys'
      ? `unknown parameter ${issue.keys.map((key) => key.slice(0, 64)).join(', ')}`
      : `${issue.path.join('.')}: ${issue.message}`,
  )
  throw new ActionError('INVALID_REQUEST', problems)
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

function toHttpError(error: unknown): unknown {
  const status = error instanceof ActionError ? errorStatuses[error.code] : undefined
  return error instanceof ActionError && status ? new HttpError(status, error.message) : error
}
