import { ApiError, ConnectionError } from './api-error.ts'
import { reportReachable } from './connection.ts'
import type { WriteMethod } from '../../src/console/server/console-route.ts'
import type { ConsoleResponses, WritePath, WriteResponses } from './responses.ts'

export type QueryParams = Readonly<Record<string, string | number | boolean | undefined>>
export type PathParams = Readonly<Record<string, string>>

/** What a request contains beside its method and the path of its route. */
export type RequestParts = {
  readonly pathParams?: PathParams | undefined
  readonly query?: QueryParams | undefined
  readonly body?: unknown
}

/** Sends requests to the console API. The browser adds the session cookie. */
export type Api = {
  readonly get: <Path extends keyof ConsoleResponses>(
    path: Path,
    parts?: Omit<RequestParts, 'body'> & { readonly signal?: AbortSignal },
  ) => Promise<ConsoleResponses[Path]>
  readonly send: <Method extends WriteMethod, Path extends WritePath<Method>>(
    method: Method,
    path: Path,
    parts: RequestParts,
  ) => Promise<WriteResponses[Method][Path]>
}

const basePath = '/console/v1'

/** @param csrfToken returns the CSRF token of the session. Every write request contains it. */
export function createApi(csrfToken: () => string | undefined): Api {
  // The server validates its responses with the schemas that their types come from.
  return {
    get: async (path, { pathParams, query, signal } = {}) => {
      const url = buildPath(path, pathParams, query)
      return (await fetchJson(url, signal ? { signal } : {})) as never
    },
    send: async (method, path, { pathParams, query, body }) => {
      const init = {
        method,
        headers: {
          'x-csrf-token': csrfToken() ?? '',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }
      return (await fetchJson(buildPath(path, pathParams, query), init)) as never
    },
  }
}

/** Fills the parameters of a path such as `/projects/:projectId` and appends the query. */
export function buildPath(
  path: string,
  pathParams: PathParams = {},
  query: QueryParams = {},
): string {
  const filled = path.replaceAll(/:(\w+)/gu, (_match, name: string) =>
    encodeURIComponent(pathParams[name] ?? ''),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value))
  const text = search.toString()
  return text ? `${filled}?${text}` : filled
}

/** Returns the URL of a list as CSV, with the filters of the list. */
export function csvUrl(path: string, pathParams: PathParams, query: QueryParams): string {
  return basePath + buildPath(`${path}.csv`, pathParams, query)
}

/** Returns the URL of a file, such as a picture. */
export function fileUrl(path: string, pathParams: PathParams): string {
  return basePath + buildPath(path, pathParams)
}

async function fetchJson(path: string, init: RequestInit): Promise<unknown> {
  const response = await fetchResponse(path, init)
  const body = parseJson(response.text)
  reportReachable(!isGatewayError(response.status, body))
  if (response.ok) return body
  const { detail, problems = [] } = errorBodyOf(body)
  throw new ApiError(response.status, detail ?? `The server returned status ${response.status}.`, {
    problems,
    isCodeRequired: response.headers.get('x-second-factor') === 'required',
    isSessionEnded: response.headers.get('x-session') === 'required',
    reference: response.headers.get('x-request-id') ?? undefined,
    retryAfterS: Number(response.headers.get('retry-after')) || undefined,
  })
}

type ReadResponse = Pick<Response, 'ok' | 'status' | 'headers'> & { readonly text: string }

/** @throws ConnectionError without a response. A write is not sent while the browser is offline. */
async function fetchResponse(path: string, init: RequestInit): Promise<ReadResponse> {
  if (init.method !== undefined && !navigator.onLine) throw new ConnectionError('notSent')
  try {
    const response = await fetch(basePath + path, {
      credentials: 'same-origin',
      cache: 'no-store',
      ...init,
    })
    const { ok, status, headers } = response
    return { ok, status, headers, text: await response.text() }
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    reportReachable(false)
    throw new ConnectionError('noResponse')
  }
}

/** Whether a proxy answered because it does not reach the server, whose errors are JSON. */
function isGatewayError(status: number, body: unknown): boolean {
  return [502, 503, 504].includes(status) && body === undefined
}

/** Returns whether the server can be reached. */
export async function canReachServer(): Promise<boolean> {
  try {
    const { status, text } = await fetchResponse('/session', {})
    return !isGatewayError(status, parseJson(text))
  } catch {
    return false
  }
}

function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    // The response is not JSON, such as the error page of a proxy. The error then shows the status.
    return undefined
  }
}

function errorBodyOf(body: unknown): {
  readonly detail?: string
  readonly problems?: ApiError['problems']
} {
  return typeof body === 'object' && body !== null ? body : {}
}
