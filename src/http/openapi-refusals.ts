import { headersNamed, limitHeaders, type HeaderName } from './openapi-headers.ts'

type Json = { readonly [key: string]: unknown }

type Refusal = {
  readonly when: string
  /** A `detail` as the service says it. */
  readonly detail: string
  readonly headers: readonly HeaderName[]
}

const behindTheKey = ['X-Request-Id', ...limitHeaders] as const

/** Every status but 200, with what may bring it about. */
export const refusalTable = {
  400: {
    when: 'Malformed JSON, a body that is no object, an unsupported X-Api-Version, or a parameter of a route that is wrong.',
    detail: 'The body is not valid JSON.',
    headers: behindTheKey,
  },
  401: {
    when: 'The key is missing or unknown, revoked, or expired. After many wrong keys with Retry-After.',
    detail: 'API key missing or unknown.',
    headers: ['X-Request-Id', 'Retry-After'],
  },
  402: {
    when: 'The budget is exhausted.',
    detail: 'The budget of the project is exhausted.',
    headers: behindTheKey,
  },
  403: {
    when: 'The key lacks the permission.',
    detail: 'This key lacks the permission subjects:read.',
    headers: behindTheKey,
  },
  404: {
    when: 'There is no such thing in the gallery.',
    detail: 'There is no such group in the gallery.',
    headers: behindTheKey,
  },
  405: {
    when: 'The route does not have the method.',
    detail: 'Wrong method for this route.',
    headers: ['Allow'],
  },
  408: { when: 'The request took too long to arrive.', detail: 'Request Timeout.', headers: [] },
  413: {
    when: 'The body is over the limit.',
    detail: 'The request body is over 25165824 bytes.',
    headers: behindTheKey,
  },
  415: {
    when: 'The body is not application/json, or it is encoded.',
    detail: 'Content-Type must be application/json.',
    headers: behindTheKey,
  },
  429: {
    when: 'The rate limit of the project is exceeded.',
    detail: 'Project rate limit exceeded.',
    headers: [...behindTheKey, 'Retry-After'],
  },
  431: {
    when: 'The headers are over 16 KiB.',
    detail: 'Request Header Fields Too Large.',
    headers: [],
  },
  500: {
    when: 'A fault of the server.',
    detail: 'Internal error; the log tells more.',
    headers: behindTheKey,
  },
  503: {
    when: 'Overload, shutdown, or a part that is down for the moment.',
    detail: 'The server is shutting down.',
    headers: [...behindTheKey, 'Retry-After'],
  },
} as const satisfies Readonly<Record<number, Refusal>>

export type RefusalStatus = keyof typeof refusalTable

/** `components.responses`. */
export function refusals(): Json {
  const entries: [string, Refusal][] = Object.entries(refusalTable)
  return Object.fromEntries(
    entries.map(([status, { when, detail, headers }]) => [
      `Refusal${status}`,
      {
        description: when,
        headers: headersNamed(headers),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Refusal' },
            example: { detail },
          },
        },
      },
    ]),
  )
}

/** `responses` of an operation, by status. */
export function refusalsWith(statuses: readonly RefusalStatus[]): Json {
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/Refusal${status}` }]),
  )
}
