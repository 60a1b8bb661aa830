import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HttpError, noSuchRoute } from '../../lib/errors.ts'
import { serveCreatedDocument, serveDocument } from '../document.ts'
import { type ApiExtensions, type ApiLimits, openApiDocument } from '../openapi/openapi.ts'
import type { Route } from '../route.ts'

type ServiceRouteOptions = {
  readonly version: string
  /** The reasons why the service is not ready, one sentence each; empty when it is ready. */
  readonly notReady: () => Promise<readonly string[]>
  readonly metrics: () => Promise<string>
  /** For the API description. */
  readonly limits: ApiLimits
  readonly extensions?: ApiExtensions
}

/** One rendering of the metrics takes several milliseconds of the event loop. */
const metricsIntervalMs = 250

/** One check reads the database and the disk. */
const readinessIntervalMs = 100

/** Returns the routes about the service. They need no key and contain no personal data. */
export function serviceRoutes(options: ServiceRouteOptions): Route[] {
  const { version, notReady, metrics, limits, extensions } = options
  const readMetrics = shareRuns(async () => Buffer.from(await metrics()), metricsIntervalMs)
  const readReasons = shareRuns(async () => notReady(), readinessIntervalMs)
  const description = serveCreatedDocument(
    () => JSON.stringify(openApiDocument(version, limits, extensions)),
    { contentType: 'application/json; charset=utf-8' },
  )
  return [
    operatorRoute('/healthz', () => ({ status: 200, body: { ok: true } })),
    operatorRoute('/readyz', async () => {
      const reasons = await readReasons()
      if (reasons.length === 0) return { status: 200, body: { ready: true } }
      const headers = { 'retry-after': '1' }
      return { status: 503, headers, body: { detail: reasons.join('; ') } }
    }),
    operatorRoute('/metrics', async () => ({
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      body: await readMetrics(),
    })),
    { method: 'GET', path: '/v1/openapi.json', handle: description },
    { method: 'GET', path: '/docs/samples/group.jpg', handle: servePhotograph() },
  ]
}

/**
 * Proxies do not publish the routes for operators, and most compare the path as text. Therefore other
 * spellings, with a slash at the end or with percent-encoded letters, return 404.
 */
function operatorRoute(routePath: string, respond: Route['handle']): Route {
  const handle: Route['handle'] = (request) => {
    // The target of a request may be a complete URL.
    if (request.path.replace(/^https?:\/\/[^/]*/u, '') !== routePath)
      throw new HttpError(404, noSuchRoute)
    return respond(request)
  }
  return { method: 'GET', path: routePath, isQuiet: true, handle }
}

/** Serves a photograph of three people for the first call, which the caller may send from anywhere. */
function servePhotograph(): Route['handle'] {
  const faceApi = createRequire(import.meta.url).resolve('@vladmandic/face-api/package.json')
  const bytes = readFileSync(path.join(path.dirname(faceApi), 'demo', 'sample1.jpg'))
  return serveDocument(bytes, { contentType: 'image/jpeg' })
}

/**
 * Shares the runs of a costly read between its callers. Every caller receives the result of a run
 * that started after the call, so that no result is outdated. At most one run is active, and runs
 * start at least `intervalMs` apart; the callers in between share the next run.
 */
export function shareRuns<T>(run: () => Promise<T>, intervalMs: number): () => Promise<T> {
  let active: Promise<unknown> = Promise.resolve()
  let startedAtMs = -Infinity
  let next: Promise<T> | undefined
  return () => (next ??= startNext())

  async function startNext(): Promise<T> {
    await active
    const waitMs = startedAtMs + intervalMs - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    startedAtMs = performance.now()
    next = undefined
    const result = run()
    active = result.catch(() => {}) // The callers receive the error.
    return result
  }
}
