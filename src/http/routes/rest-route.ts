import { z } from 'zod'
import type { Services } from '../../actions/action.ts'
import type { AuthenticatedCall, UnreadableContent } from '../../gate/call-states.ts'
import type { Gate } from '../../gate/gate.ts'
import { runAsAccount } from '../../lib/account-context.ts'
import { ownTurn } from '../../lib/limits/own-turn.ts'
import type { Log } from '../../lib/log.ts'
import { requireValid } from '../../lib/validation/describe-issue.ts'
import { errorResponse } from '../error-response.ts'
import { describeFields } from '../input/describe-request.ts'
import { requireApiVersion } from '../input/read-call.ts'
import {
  readJson,
  requireNoBody,
  textBodyBytesMax,
  type JsonBodyLimits,
} from '../input/read-body.ts'
import { requireStorable, requireValidParameters } from '../input/parse-json.ts'
import type { HttpRequest, HttpResponse, Route } from '../route.ts'
import { passGate, resultOf } from '../run-call.ts'
import { requestIdHeader, serveRoute, type RequestScope } from '../serve-route.ts'
import { parseResponse } from './parse-response.ts'

/** A route that needs a key. It returns plain JSON with HTTP statuses, without an envelope. */
export type RestRoute<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  PathParams extends z.ZodObject = z.ZodObject,
> = {
  readonly method: 'GET' | 'DELETE' | 'POST'
  /** `:name` matches one part of the path. */
  readonly path: string
  readonly name: string
  readonly summary: string
  /** null: every key may call it. */
  readonly permission: string | null
  /** The section of the API description; `gallery` by default. */
  readonly tag?: 'face' | 'key'
  /** The `:name` parts of the path. */
  readonly pathParams?: PathParams
  readonly query: Query
  /** The schema of the JSON body. Without it the body is not read. */
  readonly body?: Body
  /** Whether the body or the query names something that can be unknown (404). */
  readonly hasUnknown?: boolean
  readonly value: z.ZodType
  /** Whether a read takes long: an account runs two of them at a time. By default, lists do. */
  readonly isLong?: (query: z.output<Query>) => boolean
  /** A response for the documentation. */
  readonly example: unknown
  readonly run: (
    call: RestCall<z.output<Query>, z.output<Body>, z.output<PathParams>>,
  ) => Promise<unknown>
}

type RestCall<Query, Body, PathParams> = {
  readonly query: Query
  /** Valid only in a route with a schema of the body. */
  readonly body: Body
  /** The values of the `:name` parts of the path. */
  readonly pathParams: PathParams
  readonly caller: AuthenticatedCall['caller']
  readonly services: Services
  readonly gate: Pick<Gate, 'describeKey'>
  readonly models: readonly ModelInUse[]
  /** Aborts when the client has left. */
  readonly signal: AbortSignal
}

/** Infers the types of `run` from the schemas. */
export function defineRoute<
  Query extends z.ZodType,
  Body extends z.ZodType = z.ZodUndefined,
  PathParams extends z.ZodObject = z.ZodObject,
>(
  method: RestRoute['method'],
  path: string,
  route: Omit<RestRoute<Query, Body, PathParams>, 'method' | 'path'>,
): RestRoute {
  const typed: RestRoute<Query, Body, PathParams> = { method, path, ...route }
  return typed
}

/** A model that analyzes new images. */
export type ModelInUse = {
  /** The pack and the id of the model. */
  readonly model: string
  readonly version: string
  readonly roles: readonly string[]
}

export type RestOptions = Pick<JsonBodyLimits, 'jsonLimits'> & {
  readonly gate: Gate
  readonly services: Services
  /** The models of the service, for `GET /v1/me`; by default none. */
  readonly models?: readonly ModelInUse[]
  readonly log: Log
}

/** Returns the server route: the checks of the gate, the work, the log row. */
export function serveRest(route: RestRoute, options: RestOptions): Route {
  return serveRoute(route, {
    headersOf: requestIdHeader,
    authenticate: (request) => options.gate.authenticate(request),
    read: (caller, scope) => readCall(route, caller, scope, options),
    run: (call, scope) => admitAndRun(route, call, scope, options),
    toErrorResponse: (error, requestId) => errorResponse(error, requestId, options.log),
  })
}

type KeyCaller = Parameters<Gate['admit']>[0]

/**
 * Reads and checks a request. The call costs nothing and has a new id, so it is never a retry. An
 * error is returned, because the gate decides when to report it.
 */
async function readCall(
  route: RestRoute,
  caller: KeyCaller,
  { request }: RequestScope,
  options: RestOptions,
) {
  const permissions = route.permission === null ? [] : [route.permission]
  let sentBody: unknown
  const describeRequest = () => describeSent(route, request, sentBody)
  try {
    requireApiVersion(request)
    const limits = { bodyBytesMax: textBodyBytesMax, jsonLimits: options.jsonLimits }
    if (!route.body && route.method !== 'GET') requireNoBody(request)
    if (route.body) request.body.accept(caller, textBodyBytesMax)
    sentBody = route.body && (await readJson(request, limits))
    const input = checkInput(route, request, sentBody)
    const { gate, services, models = [] } = options
    const run = (admitted: KeyCaller) =>
      route.run({ ...input, caller: admitted, services, gate, models, signal: request.signal })
    const content = { action: { price: () => 0 }, params: {}, debug: false, permissions, run }
    const isList = route.query instanceof z.ZodObject && 'limit' in route.query.shape
    const isLong = route.isLong?.(input.query) ?? isList
    return { caller, content, describeRequest, isLong }
  } catch (error) {
    const content: UnreadableContent = { error, permissions }
    return { caller, content, describeRequest, isLong: false }
  }
}

/** @throws ActionError INVALID_REQUEST that names every invalid parameter of the path, the query or the body. */
function checkInput(route: RestRoute, request: HttpRequest, sentBody: unknown) {
  requireValidParameters(request)
  requireStorable(sentBody, 'body')
  return {
    pathParams: requireValid(route.pathParams ?? z.object({}), request.pathParams, 'path'),
    query: requireValid(route.query, Object.fromEntries(request.query), 'query'),
    body: route.body && requireValid(route.body, sentBody, 'body'),
  }
}

function describeSent({ query, body }: RestRoute, request: HttpRequest, sentBody: unknown) {
  const names = [query, body].flatMap((schema) =>
    schema instanceof z.ZodObject ? Object.keys(schema.shape) : [],
  )
  const queryValues = [...request.query].flat()
  return describeFields(names, queryValues, Object.values(request.pathParams), sentBody)
}

/** Admits a call and runs it; then ends it at the gate, which logs it. */
async function admitAndRun(
  route: RestRoute,
  { caller, content, describeRequest, isLong }: Awaited<ReturnType<typeof readCall>>,
  { request, requestId, startMs, addHeaders }: RequestScope,
  { gate }: RestOptions,
): Promise<HttpResponse> {
  const received = { requestId, startMs, action: `${route.method} ${route.path}`, describeRequest }
  const end = await passGate({ caller, received, gate }, content, async (admitted, { run }) => {
    const { caller: current } = admitted.call
    const read = () => runAsAccount(current.accountId, () => run(current))
    const turn = { owner: current.keyId, signal: request.signal }
    const value = await (isLong ? gate.queueRead(current.accountId, read, turn) : read())
    const body = await parseResponse(route.value, value)
    await gate.finish(admitted)
    // Several calls end in one transaction: each serializes its page in a separate turn.
    if (isLong) await ownTurn()
    return { status: 200, body }
  })
  addHeaders(end.headers)
  return resultOf(end)
}
