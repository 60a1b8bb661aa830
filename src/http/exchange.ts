import type { Readable } from 'node:stream'

/** A request as the pages of this folder see it, whatever server carries it. */
export type Request = {
  readonly method: string
  /** The path without its query. */
  readonly path: string
  /** Lower-case names; a header sent several times is one text, joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly query: URLSearchParams
  /** What stands in the path where the route has a `:name`. */
  readonly parts: Readonly<Record<string, string>>
  /** The address of the other end of the connection. */
  readonly clientIp: string
  /** The body, unread. */
  readonly body: Readable
  /** Fires when the client is gone before the answer. */
  readonly signal: AbortSignal
}

/** An answer; text is sent as it stands, anything else as JSON. */
export type Answer = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

export type Route = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly handle: (request: Request) => Promise<Answer> | Answer
}
