import type { Readable } from 'node:stream'

/** A request as the pages of this folder see it, whatever server carries it. */
export type HttpRequest = {
  readonly method: string
  /** The path without its query. */
  readonly path: string
  /** Lower-case names; a header sent several times is one text, joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly query: URLSearchParams
  /** What stands in the path where the route has a `:name`. */
  readonly pathParams: Readonly<Record<string, string>>
  /** The address of the client: the other end of the connection, or what trusted proxies say. */
  readonly clientIp: string
  /** Where the client sees the service, such as `https://faces.example.org`. */
  readonly origin: string
  /** The body, unread. */
  readonly body: Readable
  /** Fires when the client is gone before the answer. */
  readonly signal: AbortSignal
}

/** An answer; text, bytes and streams are sent as they stand, anything else as JSON. */
export type HttpResponse = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Asked by machines every few seconds: no trace and no line in the log tells of it. */
  readonly isQuiet?: boolean
  readonly handle: (request: HttpRequest) => Promise<HttpResponse> | HttpResponse
}
