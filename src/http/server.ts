import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { HttpError, noSuchRoute, unavailable } from '../lib/errors.ts'
import { addressWithoutPort } from '../lib/limits/client-network.ts'
import type { Log } from '../lib/log.ts'
import { currentRequestId } from '../lib/observability/call-trace.ts'
import { createConnectionStats, type ConnectionStats } from './connections/connection-stats.ts'
import {
  handleClientError,
  protectConnections,
  type ConnectionLimits,
} from './connections/protect-connections.ts'
import { findHostProblem, findTargetProblem } from './connections/host-header.ts'
import { corsHeaders, preflightResponse } from './cross-origin/cors.ts'
import { isDeletedByName, requireDeletedName } from './input/deleted-name.ts'
import { discardBody } from './discard-body.ts'
import {
  createIncomingBody,
  discardBytesMaxDefault,
  hasBody,
  unlimitedBodyBudget,
  type BodyBudget,
  type IncomingBody,
} from './input/incoming-body.ts'
import type { HttpResponse, HttpRequest, Route } from './route.ts'
import { observeRequest, type SentResponse, type RequestObserver } from './metrics/metrics.ts'
import { serverTiming } from './metrics/server-timing.ts'
import { errorResponse } from './error-response.ts'

export type HttpServerOptions = ConnectionLimits & {
  readonly routes: readonly Route[]
  /** Handles requests that match no route; 404 without it. */
  readonly fallback?: Route['handle']
  /** The number of reverse proxies whose `X-Forwarded-…` headers are trusted; 0: none. */
  readonly proxies?: number
  readonly headersMsMax: number
  readonly requestMsMax: number
  /** Counts the connections, for the metrics. */
  readonly connectionStats?: ConnectionStats
  /** The origins of web pages that may call the routes under `/v1`; `*`: all; by default none. */
  readonly corsOrigins?: readonly string[]
  /** Whether these pages may send `Authorization`; not by default. */
  readonly bearerKeys?: boolean
  /** How long running calls may take to finish when the server closes. */
  readonly drainMsMax: number
  /** The memory of request bodies; not limited without it. */
  readonly bodyBudget?: BodyBudget
  readonly log: Log
  readonly observer?: RequestObserver
}

export type HttpServer = ReturnType<typeof createHttpServer>

const handleNotFound = (): HttpResponse => ({ status: 404, body: { detail: noSuchRoute } })

type RequestHook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

const headerBytesMax = 16 * 1024
/** Ids of 128 characters, each encoded as up to four bytes `%xx`. */
const pathParamCharsMax = 128 * 12
const sweepMs = 50
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/**
 * Creates the HTTP server. Only this file uses the HTTP framework; routes work with plain requests
 * and responses.
 */
export function createHttpServer(options: HttpServerOptions) {
  const app = createFastify(options)
  let isDraining = false
  for (const path of new Set(options.routes.map((route) => route.path))) {
    const routesOfPath = options.routes.filter((route) => route.path === path)
    registerPath(app, routesOfPath, { ...options, hookOf: toHook })
  }
  const unmatched = { path: 'unmatched', handle: options.fallback ?? handleNotFound, isQuiet: true }
  registerUnmatched(app, toHook(unmatched))
  return {
    /** Resolves to the URL for clients, such as `http://127.0.0.1:8080`. */
    listen: async (host: string, port: number): Promise<string> => {
      // For `localhost` the framework would open a second server, to which no limit applies.
      await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
      return addressOf(app, host)
    },
    /** Rejects new calls with 503, lets running calls finish, then closes. */
    close: async (): Promise<void> => {
      isDraining = true
      const deadline = setTimeout(() => app.server.closeAllConnections(), options.drainMsMax)
      // A connection that is busy now would otherwise stay open when it becomes idle.
      const sweep = setInterval(() => app.server.closeIdleConnections(), sweepMs)
      await app.close()
      clearInterval(sweep)
      clearTimeout(deadline)
    },
  }

  function toHook({ path: route, handle, isQuiet = false }: Omit<Route, 'method'>): RequestHook {
    const isCollection = isDeletedByName(options.routes, route)
    const respond = async (request: FastifyRequest, reply: FastifyReply): Promise<SentResponse> => {
      const body = createIncomingBody(request.raw, options.bodyBudget ?? unlimitedBodyBudget)
      try {
        if (isDraining && request.method !== 'GET')
          throw unavailable('The server is shutting down.')
        const received = requireDeletedName(toHttpRequest(request, reply, body), isCollection)
        const response = await handle(received)
        body.release()
        await send(reply, response, body.discardBytesMax())
      } catch (error) {
        body.release()
        const response = errorResponse(error, currentRequestId(), options.log)
        await send(reply, response, body.discardBytesMax())
      }
      return { status: reply.statusCode }
    }
    return (request, reply) => {
      const { traceparent } = request.raw.headers
      // Node joins repeated headers to one text; the type of this header also allows a list.
      const parent = typeof traceparent === 'string' ? traceparent : undefined
      const observed = { method: request.method, route, isQuiet, traceparent: parent }
      return observeRequest(observed, () => respond(request, reply), options)
    }
  }
}

function createFastify(options: HttpServerOptions): FastifyInstance {
  const { proxies = 0, corsOrigins = [], log } = options
  const { connectionStats: stats = createConnectionStats() } = options
  const app = Fastify({
    http: {
      maxHeaderSize: headerBytesMax,
      headersTimeout: Math.min(options.headersMsMax, options.requestMsMax),
      requestTimeout: options.requestMsMax,
      connectionsCheckingInterval: 1000,
      requireHostHeader: false, // Node would respond without a body.
    },
    requestTimeout: options.requestMsMax,
    // Only the entries of the trusted proxies are used; entries sent by the client are ignored.
    trustProxy: proxies > 0 && ((_address, hop) => hop < proxies),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: handleClientError,
    routerOptions: { maxParamLength: pathParamCharsMax, ignoreTrailingSlash: true },
    // No route has a schema. By default the framework would load its compilers at each start.
    schemaController: {
      compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas },
    },
    frameworkErrors: (_error, _request, reply) =>
      void send(reply, { status: 400, body: { detail: 'The URL is malformed.' } }),
  })
  // Hooks with a callback: a promise of each hook would take more time than the hook.
  if (corsOrigins.length > 0)
    app.addHook('onRequest', (request, reply, next) => {
      void reply.headers(corsHeaders(toRequestHead(request), corsOrigins))
      next()
    })
  app.addHook('onRequest', requireHostAndTarget)
  protectConnections(app.server, { limits: options, proxies, stats, log })
  return app
}

function requireHostAndTarget(request: FastifyRequest, reply: FastifyReply, next: () => void) {
  const detail =
    findHostProblem(request.raw, request.host) ?? findTargetProblem(request.raw, request.host)
  if (detail === undefined) return next()
  send(reply, { status: 400, headers: { connection: 'close' }, body: { detail } })
}

type PathOptions = Pick<HttpServerOptions, 'corsOrigins' | 'bearerKeys'> & {
  readonly hookOf: (route: Route) => RequestHook
}

/** Registers a path with all its methods. Other methods get 405, and preflight requests their answer. */
function registerPath(
  app: FastifyInstance,
  routes: readonly Route[],
  { hookOf, corsOrigins: origins = [], bearerKeys = false }: PathOptions,
) {
  const url = routes[0]?.path ?? '/'
  const allowed = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  for (const route of routes) {
    const method = route.method === 'GET' ? ['GET', 'HEAD'] : route.method
    // The hook sends the response before the framework reads the body.
    app.route({ method, url, onRequest: hookOf(route), handler: unreachable })
  }
  app.route({
    method: methods.filter((method) => !allowed.includes(method)),
    url,
    onRequest: async (request, reply) => {
      const pageHeaders = routes.some(({ isCalledByPages }) => isCalledByPages)
        ? ['Content-Type', 'X-Session-Token', 'X-Api-Version']
        : undefined
      const permitted = { origins, methods: allowed, bearerKeys, pageHeaders }
      const preflight = preflightResponse(toRequestHead(request), permitted)
      if (preflight) return send(reply, preflight)
      const headers = { allow: allowed.join(', ') }
      const detail = `Wrong method for this route. Use ${allowed.join(' or ')}.`
      return send(reply, { status: 405, headers, body: { detail } })
    },
    handler: unreachable,
  })
}

/** As for a route: the hook sends the response before the framework reads the body. */
function registerUnmatched(app: FastifyInstance, respond: RequestHook): void {
  app.addHook('onRequest', (request, reply, next) => {
    if (request.is404) void respond(request, reply)
    else next()
  })
  app.setNotFoundHandler(unreachable)
}

function toRequestHead({ method, raw }: FastifyRequest) {
  const [path = '/'] = (raw.url ?? '/').split('?', 1)
  // Node joins repeated headers to one text, except Set-Cookie, which only servers send.
  return { method, path, headers: raw.headers as Readonly<Record<string, string>> }
}

function toHttpRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  incomingBody: IncomingBody,
): HttpRequest {
  const head = toRequestHead(request)
  // A query may contain question marks.
  const queryText = request.raw.url?.slice(head.path.length + 1) ?? ''
  const address = `${request.protocol}://${request.host}`
  const disconnected = new AbortController()
  reply.raw.once('close', () => {
    if (reply.raw.writableFinished) return
    disconnected.abort(new HttpError(499, 'The client disconnected.'))
  })
  return {
    ...head,
    query: new URLSearchParams(queryText),
    queryText,
    // The framework returns a text for each `:name` of the path.
    pathParams: request.params as Readonly<Record<string, string>>,
    clientIp: addressWithoutPort(request.ip),
    // As browsers write it: in lower case, an IPv6 address in its shortest form.
    origin: URL.parse(address)?.origin ?? address,
    body: incomingBody,
    signal: disconnected.signal,
  }
}

/**
 * Headers of every response that does not state its own: almost all contain personal data, which no
 * cache may store. Only documents and files that are public state another Cache-Control.
 */
const defaultHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

function send(
  reply: FastifyReply,
  { status, headers = {}, body }: HttpResponse,
  discardBytesMax = discardBytesMaxDefault,
): FastifyReply {
  const isText = typeof body === 'string'
  const isRaw = body === undefined || isText || Buffer.isBuffer(body) || body instanceof Readable
  if (!isRaw) void reply.header('content-type', 'application/json; charset=utf-8')
  const payload = isRaw ? body : JSON.stringify(body)
  const request = reply.request.raw
  // The client has announced a body that has not arrived in full.
  const isPending = !request.complete && hasBody(request)
  return reply
    .code(status)
    .headers({ ...defaultHeaders, ...serverTiming(), ...headers })
    .send(
      isPending ? discardBody(reply.raw, payload ?? '', { bytesMax: discardBytesMax }) : payload,
    )
}

function addressOf(app: FastifyInstance, host: string): string {
  const address = app.server.address() as AddressInfo
  const hostname = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${address.port}`
}

function noSchemas(): never {
  throw new Error('routes have no schemas of the framework')
}

function unreachable(): never {
  throw new Error('the response is sent before the handler runs')
}
