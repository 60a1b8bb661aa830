import { ApiError } from './api-error.ts'

export type QueryParams = Readonly<Record<string, string | number | boolean | undefined>>
export type PathParams = Readonly<Record<string, string>>

/** Calls of the console's routes. The browser adds the session's cookie by itself. */
export type Api = {
  readonly get: (path: string, signal?: AbortSignal) => Promise<unknown>
  readonly send: (
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ) => Promise<unknown>
}

const basePath = '/console/v1'

/** @param csrfToken tells the token of the session; every write bears it. */
export function createApi(csrfToken: () => string | undefined): Api {
  return {
    get: (path, signal) => fetchJson(path, signal ? { signal } : {}),
    send: (method, path, body) =>
      fetchJson(path, {
        method,
        headers: {
          'x-csrf-token': csrfToken() ?? '',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  }
}

/** Puts the parts into a path such as `/projects/:projectId`, and the query behind it. */
export function buildPath(path: string, parts: PathParams = {}, query: QueryParams = {}): string {
  const filled = path.replaceAll(/:(\w+)/gu, (_whole, name: string) =>
    encodeURIComponent(parts[name] ?? ''),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value))
  const text = search.toString()
  return text ? `${filled}?${text}` : filled
}

/** Where the browser downloads a list as CSV, under the filters of the list. */
export function csvUrl(path: string, parts: PathParams, query: QueryParams): string {
  return basePath + buildPath(`${path}.csv`, parts, query)
}

async function fetchJson(path: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(basePath + path, {
    credentials: 'same-origin',
    cache: 'no-store',
    ...init,
  })
  const text = await response.text()
  const body = parseJson(text)
  if (response.ok) return body
  const { detail, problems } = errorBodyOf(body)
  const retryAfter = Number(response.headers.get('retry-after'))
  throw new ApiError(response.status, detail ?? `The server answered ${response.status}.`, {
    problems: problems ?? [],
    retryAfterS: retryAfter > 0 ? retryAfter : undefined,
  })
}

function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    // A proxy's page instead of an answer of ours: the status alone tells.
    return undefined
  }
}

function errorBodyOf(body: unknown): {
  readonly detail?: string
  readonly problems?: ApiError['problems']
} {
  return typeof body === 'object' && body !== null ? body : {}
}
