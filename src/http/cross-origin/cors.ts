import type { HttpRequest, HttpResponse } from '../route.ts'

type RequestHead = Pick<HttpRequest, 'method' | 'path' | 'headers'>

/** The routes that web pages of other origins may call: those of the API, not those of the console. */
const pathPrefix = '/v1/'

/** The request headers of API calls. */
const requestHeaders = ['X-Api-Key', 'Content-Type', 'X-Api-Version', 'traceparent']

/** The response headers that clients need. Browsers show a page only a few others. */
const responseHeaders = [
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-Request-Id',
  'Server-Timing',
  'WWW-Authenticate',
]

/** Browsers limit this time to ten minutes or more. */
const maxAgeS = 600

/**
 * Returns the headers with which a browser lets a web page of a permitted origin read a response (CORS,
 * Fetch standard). There is no `Access-Control-Allow-Credentials`: a call is authenticated by its key,
 * never by a cookie.
 *
 * The plugin of the framework is not used. It adds a route for OPTIONS on every path, whose body the
 * framework reads before a key is checked, and it responds without the limits for unread bodies.
 *
 * @param origins the permitted origins; `*` permits all.
 */
export function corsHeaders({ path, headers }: RequestHead, origins: readonly string[]) {
  if (origins.length === 0 || !path.startsWith(pathPrefix)) return {}
  const permitted = permittedOrigin(headers['origin'], origins)
  return {
    // The response to another origin is different: caches must not share it.
    ...(permitted !== '*' && { vary: 'Origin' }),
    ...(permitted !== undefined && {
      'access-control-allow-origin': permitted,
      'access-control-expose-headers': responseHeaders.join(', '),
    }),
  }
}

function permittedOrigin(origin: string | undefined, origins: readonly string[]) {
  if (origins.includes('*')) return '*'
  return origin !== undefined && origins.includes(origin) ? origin : undefined
}

export type PreflightOptions = {
  readonly origins: readonly string[]
  /** The methods of the route. */
  readonly methods: readonly string[]
  readonly bearerKeys: boolean
  /** Further headers of requests to the route; then pages of any origin may send one. */
  readonly pageHeaders?: readonly string[] | undefined
}

/**
 * Returns the response to a preflight request, with which a browser checks whether a page may send a
 * call; undefined for every other request.
 */
export function preflightResponse(
  { method, path, headers }: RequestHead,
  { origins, methods, bearerKeys, pageHeaders }: PreflightOptions,
): HttpResponse | undefined {
  const { origin, 'access-control-request-method': requested } = headers
  const isPreflight = method === 'OPTIONS' && origin !== undefined && requested !== undefined
  // The route checks the origin of the request itself: only it can read which project it is for.
  if (isPreflight && pageHeaders)
    return permit(methods, pageHeaders, { vary: 'Origin', 'access-control-allow-origin': origin })
  if (!isPreflight || origins.length === 0 || !path.startsWith(pathPrefix)) return undefined
  if (permittedOrigin(origin, origins) === undefined)
    return {
      status: 403,
      body: {
        detail:
          'Web pages of this origin may not call the service; add the origin to CORS_ORIGINS.',
      },
    }
  return permit(methods, bearerKeys ? [...requestHeaders, 'Authorization'] : requestHeaders)
}

function permit(
  methods: readonly string[],
  allowed: readonly string[],
  headers: HttpResponse['headers'] = {},
): HttpResponse {
  return {
    status: 204,
    headers: {
      ...headers,
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers': allowed.join(', '),
      'access-control-max-age': String(maxAgeS),
    },
    body: undefined,
  }
}
