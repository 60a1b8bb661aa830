import { headerRefs, rateLimitHeaders, type HeaderName } from './headers.ts'

type OpenApiObject = { readonly [key: string]: unknown }

type ErrorResponseDefinition = {
  readonly description: string
  /** A `detail` as the service says it. */
  readonly detail: string
  readonly headers: readonly HeaderName[]
}

const authenticatedHeaders = ['X-Request-Id', ...rateLimitHeaders] as const

/** Every status but 200, with what may bring it about. */
export const errorResponseTable = {
  400: {
    description:
      'Malformed JSON, a body that is no object, an unsupported X-Api-Version, or a parameter of a route that is wrong.',
    detail: 'The body is not valid JSON.',
    headers: authenticatedHeaders,
  },
  401: {
    description:
      'The key is missing or unknown, revoked, or expired. After many wrong keys with Retry-After.',
    detail: 'API key missing or unknown.',
    headers: ['X-Request-Id', 'Retry-After'],
  },
  402: {
    description: 'The budget is exhausted.',
    detail: 'The budget of the project is exhausted.',
    headers: authenticatedHeaders,
  },
  403: {
    description: 'The key lacks the permission.',
    detail: 'This key lacks the permission subjects:read.',
    headers: authenticatedHeaders,
  },
  404: {
    description: 'There is no such thing in the gallery.',
    detail: 'There is no such group in the gallery.',
    headers: authenticatedHeaders,
  },
  405: {
    description: 'The route does not have the method.',
    detail: 'Wrong method for this route.',
    headers: ['Allow'],
  },
  408: {
    description: 'The request took too long to arrive.',
    detail: 'Request Timeout.',
    headers: [],
  },
  413: {
    description: 'The body is over the limit.',
    detail: 'The request body is over 25165824 bytes.',
    headers: authenticatedHeaders,
  },
  415: {
    description: 'The body is not application/json, or it is encoded.',
    detail: 'Content-Type must be application/json.',
    headers: authenticatedHeaders,
  },
  429: {
    description: 'The rate limit of the project is exceeded.',
    detail: 'Project rate limit exceeded.',
    headers: [...authenticatedHeaders, 'Retry-After'],
  },
  431: {
    description: 'The headers are over 16 KiB.',
    detail: 'Request Header Fields Too Large.',
    headers: [],
  },
  500: {
    description: 'A fault of the server.',
    detail: 'Internal error; the log tells more.',
    headers: authenticatedHeaders,
  },
  503: {
    description: 'Overload, shutdown, or a part that is down for the moment.',
    detail: 'The server is shutting down.',
    headers: [...authenticatedHeaders, 'Retry-After'],
  },
} as const satisfies Readonly<Record<number, ErrorResponseDefinition>>

export type ErrorStatus = keyof typeof errorResponseTable

/** `components.responses`. */
export function errorResponses(): OpenApiObject {
  const entries: [string, ErrorResponseDefinition][] = Object.entries(errorResponseTable)
  return Object.fromEntries(
    entries.map(([status, { description: when, detail, headers }]) => [
      `Refusal${status}`,
      {
        description: when,
        headers: headerRefs(headers),
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
export function errorResponseRefs(statuses: readonly ErrorStatus[]): OpenApiObject {
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/Refusal${status}` }]),
  )
}
