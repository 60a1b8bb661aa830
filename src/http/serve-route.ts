import { currentRequestId } from '../lib/observability/call-trace.ts'
import type { HttpRequest, HttpResponse, Route } from './route.ts'

type Headers = NonNullable<HttpResponse['headers']>

/** A request while a route serves it. */
export type RequestScope = {
  readonly request: HttpRequest
  /** The id of the request in the response and in the logs. */
  readonly requestId: string
  /** Time of arrival, by `performance.now()`. */
  readonly startMs: number
  /** Adds headers to the response, even if a later step fails. */
  readonly addHeaders: (headers: Headers) => void
}

/** The steps of a route, in their order: what differs between REST, CompreFace and the console. */
export type RouteSteps<Caller, Call> = {
  /** Returns the headers of every response. */
  readonly headersOf: (requestId: string) => Headers
  /** Runs before the body is read. @throws HttpError 401, 403, 429 or 503. */
  readonly authenticate: (request: HttpRequest) => Promise<Caller>
  /** Reads the body and checks the input. */
  readonly read: (caller: Caller, scope: RequestScope) => Promise<Call>
  readonly run: (call: Call, scope: RequestScope) => Promise<HttpResponse>
  /** Returns the response of a failed step. */
  readonly toErrorResponse: (error: unknown, requestId: string) => HttpResponse
}

/** Serves a route: authenticates the caller, reads and checks the request, runs it and responds. */
export function serveRoute<Caller, Call>(
  { method, path }: Pick<Route, 'method' | 'path'>,
  steps: RouteSteps<Caller, Call>,
): Route {
  return { method, path, handle: (request) => handleRequest(request, steps) }
}

async function handleRequest<Caller, Call>(
  request: HttpRequest,
  { headersOf, authenticate, read, run, toErrorResponse }: RouteSteps<Caller, Call>,
): Promise<HttpResponse> {
  const startMs = performance.now()
  const requestId = currentRequestId()
  const headers: Record<string, string> = {}
  const addHeaders = (added: Headers): void => void Object.assign(headers, added)
  const scope = { request, requestId, startMs, addHeaders }
  const respond = (response: HttpResponse): HttpResponse => ({
    ...response,
    headers: { ...headers, ...headersOf(requestId), ...response.headers },
  })
  try {
    const caller = await authenticate(request)
    return respond(await run(await read(caller, scope), scope))
  } catch (error) {
    return respond(toErrorResponse(error, requestId))
  }
}

/** The headers of every response to a call with an API key. */
export function requestIdHeader(requestId: string): Headers {
  return { 'x-request-id': requestId }
}
