import { docsPage } from '../openapi/docs-page.ts'
import type { HttpResponse, Route } from '../route.ts'
import { openApiDocument, type ApiLimits } from '../openapi/openapi.ts'

export type ServiceRouteOptions = {
  readonly version: string
  /** The reasons why the service is not ready, one sentence each; empty when it is ready. */
  readonly notReady: () => Promise<readonly string[]>
  readonly metrics: () => Promise<string>
  /** For the API description. */
  readonly limits: ApiLimits
}

const textResponse = (contentType: string, body: string): HttpResponse => ({
  status: 200,
  headers: { 'content-type': `${contentType}; charset=utf-8` },
  body,
})

/** Returns the routes about the service. They need no key and contain no personal data. */
export function serviceRoutes(options: ServiceRouteOptions): Route[] {
  const { version, notReady, metrics, limits } = options
  const description = openApiDocument(version, limits)
  const page = docsPage(version)
  return [
    {
      method: 'GET',
      path: '/healthz',
      isQuiet: true,
      handle: () => ({ status: 200, body: { ok: true } }),
    },
    {
      method: 'GET',
      path: '/readyz',
      isQuiet: true,
      handle: async () => {
        const reasons = await notReady()
        if (reasons.length === 0) return { status: 200, body: { ready: true } }
        return {
          status: 503,
          headers: { 'retry-after': '1' },
          body: { detail: reasons.join('; ') },
        }
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      isQuiet: true,
      handle: async () => textResponse('text/plain; version=0.0.4', await metrics()),
    },
    { method: 'GET', path: '/v1/openapi.json', handle: () => ({ status: 200, body: description }) },
    {
      method: 'GET',
      path: '/docs',
      handle: () => {
        const response = textResponse('text/html', page)
        const csp = "default-src 'none'; style-src 'unsafe-inline'"
        return { ...response, headers: { ...response.headers, 'content-security-policy': csp } }
      },
    },
  ]
}
