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

/** A route behind the key. Its answers are plain JSON under real statuses, without an envelope. */
export type RestRoute<Query extends z.ZodType = z.ZodType> = {
  readonly method: 'GET' | 'DELETE'
  /** `:name` stands for a part of the path. */
  readonly path: string
  readonly name: string
  readonly summary: string
  readonly permission: string
  readonly query: Query
  readonly value: z.ZodType
  /** An answer as the documentation shows it. */
  readonly example: unknown
  readonly run: (call: RestCall<z.output<Query>>) => Promise<unknown>
}

type RestCall<Query> = {
  readonly query: Query
  /** The parts of the path that stand for something. */
  readonly pathParams: Readonly<Record<string, string>>
  readonly caller: Caller
  readonly services: Services
}

/** Keeps the type of the query for `run`. */
export function defineRoute<Query extends z.ZodType>(route: RestRoute<Query>): RestRoute {
  return route
}

export type RestOptions = { readonly gate: Gate; readonly services: Services; readonly log: Log }

/** A route of the server: the gate's questions, the work, the log row. */
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
    const entry = await gate.admit(caller, {
      requestId,
      startMs,
      ...toIncomingCall(route, request),
    })
    headers = entry.headers
    if (entry.kind !== 'pass') throw entry.kind === 'refused' ? entry.error : new Error('no replay')
    const body = await runAndFinish(route, request, {
      ...options,
      caller,
      admission: entry.admission,
    })
    return { status: 200, headers: { ...headers, 'x-request-id': requestId }, body }
  } catch (error) {
    const refused = errorResponse(toHttpError(error), requestId, log)
    return { ...refused, headers: { ...headers, ...refused.headers } }
  }
}

/** Free of charge, and never asked for again under the same id. */
function toIncomingCall({ method, path, permission }: RestRoute, { headers }: HttpRequest) {
  const action = `${method} ${path}`
  const isKnown = (headers['x-api-version'] ?? '1') === '1'
  if (!isKnown) return { action, parsed: { error: new HttpError(400, 'X-Api-Version must be 1.') } }
  const call = { action: { price: () => 0 }, params: {}, debug: false, permissions: [permission] }
  return { action, parsed: call }
}

type AdmittedRestCall = RestOptions & {
  readonly caller: Caller
  readonly admission: Parameters<Gate['finish']>[0]
}

/** The work, then its row in the log, whatever the work's end. */
async function runAndFinish(
  route: RestRoute,
  request: HttpRequest,
  passed: AdmittedRestCall,
): Promise<unknown> {
  const { gate, services, caller, admission: pass } = passed
  try {
    const query = parseQuery(route.query, request.query)
    const call = { query, pathParams: request.pathParams, caller, services }
    const value = await runAsAccount(caller.accountId, () => route.run(call))
    const body = route.value.parse(value)
    await gate.finish(pass)
    return body
  } catch (error) {
    throw await gate.release(pass, error)
  }
}

/** @throws ActionError INVALID_REQUEST that names every parameter that is wrong. */
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

/** What the codes of actions are called by HTTP; a route can fail in no other way. */
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
