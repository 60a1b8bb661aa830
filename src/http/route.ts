import type { IncomingBody } from './input/incoming-body.ts'

/** A request, independent of the HTTP framework. */
export type HttpRequest = {
  readonly method: string
  /** The path without its query. */
  readonly path: string
  /** Lower-case names; a header sent several times is one text, joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly query: URLSearchParams
  /** The query as sent, in which encoded characters differ from others. */
  readonly queryText: string
  /** The values of the `:name` parts of the route. */
  readonly pathParams: Readonly<Record<string, string>>
  /** The client address: the other end of the connection, or as reported by trusted proxies. */
  readonly clientIp: string
  /** The URL of the service as the client uses it, such as `https://faces.example.org`. */
  readonly origin: string
  /** The unread body. */
  readonly body: IncomingBody
  /** Fires when the client disconnects before the response is sent. */
  readonly signal: AbortSignal
}

/**
 * A response. Text, bytes and streams are sent unchanged, undefined as no body, everything else as
 * JSON.
 */
export type HttpResponse = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Requests to the route are neither traced nor logged, for example periodic health checks. */
  readonly isQuiet?: boolean
  /** Pages of any origin may send requests; the route itself checks their origin. */
  readonly isCalledByPages?: boolean
  readonly handle: (request: HttpRequest) => Promise<HttpResponse> | HttpResponse
}
