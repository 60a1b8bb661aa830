import { ApiError } from './api-error.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>
export type PathParts = Readonly<Record<string, string>>

/** Calls of the console's routes. The browser adds the session's cookie by itself. */
export type Api = {
  readonly get: (path: string, signal?: AbortSignal) => Promise<unknown>
  readonly send: (
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ) => Promise<unknown>
}

const base = '/console/v1'

/** @param csrfToken tells the token of the session; every write bears it. */
export function createApi(csrfToken: () => string | undefined): Api {
  return {
    get: (path, signal) => call(path, signal ? { signal } : {}),
    send: (method, path, body) =>
      call(path, {
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
export function addressOf(path: string, parts: PathParts = {}, query: Query = {}): string {
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
export function csvAddress(path: string, parts: PathParts, query: Query): string {
  return base + addressOf(`${path}.csv`, parts, query)
}

async function call(path: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(base + path, {
    credentials: 'same-origin',
    cache: 'no-store',
    ...init,
  })
  const text = await response.text()
  const body = parse(text)
  if (response.ok) return body
  const { detail, problems } = refusalOf(body)
  const retryAfter = Number(response.headers.get('retry-after'))
  throw new ApiError(response.status, detail ?? `The server answered ${response.status}.`, {
    problems: problems ?? [],
    retryAfterS: retryAfter > 0 ? retryAfter : undefined,
  })
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    // A proxy's page instead of an answer of ours: the status alone tells.
    return undefined
  }
}

function refusalOf(body: unknown): {
  readonly detail?: string
  readonly problems?: ApiError['problems']
} {
  return typeof body === 'object' && body !== null ? body : {}
}
