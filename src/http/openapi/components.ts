import type { Action } from '../../actions/action.ts'
import { allActions } from '../../actions/all-actions.ts'
import { toParamsSchema } from '../../actions/schemas/params-schema.ts'
import { apiKeyChallenge, unauthorizedMessages } from '../../gate/authenticate.ts'
import { errorTable } from '../../lib/errors.ts'
import type { OpenApiObject } from './openapi-schemas.ts'

const integerHeader = (description: string, example: number): OpenApiObject => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
})

/** `components.headers`: every header that a response may have. */
export const openApiHeaders = {
  'X-Request-Id': {
    description: 'The id of the call, also in the log of the service.',
    schema: { type: 'string', format: 'uuid' },
    example: '7f8f4c0e-3a52-4f0b-9a70-0c6c8c2f9f61',
  },
  'RateLimit-Limit': integerHeader('The burst limit of the project.', 20),
  'RateLimit-Remaining': integerHeader('Calls that are allowed now.', 19),
  'RateLimit-Reset': integerHeader('Seconds until the whole burst is allowed again.', 1),
  'RateLimit-Policy': {
    description:
      'The average calls per second that the project allows, and the calls of a burst: `<calls>;w=<seconds>;burst=<calls>`.',
    schema: { type: 'string' },
    example: '10;w=1;burst=20',
  },
  'Server-Timing': {
    description:
      'The duration of the steps of the call in milliseconds, `<step>;dur=<ms>`; steps that ran several times are added.',
    schema: { type: 'string' },
    example: 'gate.admit;dur=1.20, vision.analyze;dur=38.55',
  },
  'Retry-After': integerHeader('Seconds to wait before the next retry.', 1),
  'WWW-Authenticate': {
    description: 'The credentials that the route requires.',
    schema: { type: 'string' },
    example: apiKeyChallenge({ bearerKeys: false })['www-authenticate'],
  },
  Allow: {
    description: 'The methods of the route.',
    schema: { type: 'string' },
    example: 'GET, HEAD',
  },
} as const satisfies Readonly<Record<string, OpenApiObject>>

type HeaderName = keyof typeof openApiHeaders

/** The headers of every response to a call that reached the admission. */
export const admissionHeaders = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
  'Server-Timing',
] as const

/** Returns the `headers` of a response. */
export function headerRefs(names: readonly HeaderName[]): OpenApiObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

type ErrorResponseDefinition = {
  readonly description: string
  /** An example of `detail`. */
  readonly detail: string
  readonly headers: readonly HeaderName[]
}

const authenticatedHeaders = ['X-Request-Id', ...admissionHeaders] as const

/** Every status except 200, with its causes. */
export const errorResponseTable = {
  400: {
    description:
      'Malformed JSON, a body that is not an object, an unsupported X-Api-Version, an invalid parameter of a route, malformed HTTP, or HTTP/1.1 without Host.',
    detail: 'The body is not valid JSON: line 2, column 16: expected a name in double quotes.',
    headers: authenticatedHeaders,
  },
  401: {
    description:
      'The key is missing, unknown, revoked, expired or replaced by a rotation. Includes WWW-Authenticate, and Retry-After after many failures.',
    detail: unauthorizedMessages.unknown,
    headers: ['X-Request-Id', 'WWW-Authenticate', 'Retry-After'],
  },
  403: {
    description: 'The key lacks the permission.',
    detail: 'This key lacks the permission subjects:read.',
    headers: authenticatedHeaders,
  },
  404: {
    description: 'The gallery has no such subject or group.',
    detail: 'There is no such group in the gallery. List the groups with GET /v1/groups.',
    headers: authenticatedHeaders,
  },
  405: {
    description: 'The route does not support the method.',
    detail: 'Wrong method for this route. Use POST.',
    headers: ['Allow'],
  },
  408: {
    description: 'The request took too long to arrive.',
    detail: 'Request Timeout.',
    headers: [],
  },
  413: {
    description: 'The body is over the limit.',
    detail: 'The request body is over 25165824 bytes; send smaller or fewer images.',
    headers: authenticatedHeaders,
  },
  415: {
    description: 'The body is not application/json, or it has a content encoding.',
    detail: 'Content-Type must be application/json; it is text/plain.',
    headers: authenticatedHeaders,
  },
  417: {
    description: 'The header Expect has another value than 100-continue.',
    detail: 'Expect must be 100-continue.',
    headers: [],
  },
  429: {
    description:
      'The rate limit of the project is exceeded, or its limit of open or failed liveness challenges.',
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
    detail: 'Internal error. The server log has the details.',
    headers: authenticatedHeaders,
  },
  503: {
    description: 'Overload, shutdown, or a temporarily unavailable part of the service.',
    detail: 'The server is shutting down.',
    headers: [...authenticatedHeaders, 'Retry-After'],
  },
} as const satisfies Readonly<Record<number, ErrorResponseDefinition>>

type ErrorStatus = keyof typeof errorResponseTable

/** Returns `components.responses`. */
export function errorResponses(): OpenApiObject {
  const entries: [string, ErrorResponseDefinition][] = Object.entries(errorResponseTable)
  return Object.fromEntries(
    entries.map(([status, { description, detail, headers }]) => [
      `Refusal${status}`,
      {
        description,
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

/** Returns the error `responses` of an operation, by status. */
export function errorResponseRefs(statuses: readonly ErrorStatus[]): OpenApiObject {
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/Refusal${status}` }]),
  )
}

const requestId = '7f8f4c0e-3a52-4f0b-9a70-0c6c8c2f9f61'

/** An image, truncated to its first bytes. */
const image = { kind: 'image', contentType: 'image/jpeg', bytes: '/9j/4AAQSkZJRg==' }

/** Returns `components.examples`: a request and a response of every action, and two failures. */
export function openApiExamples(): OpenApiObject {
  return Object.fromEntries([
    ...allActions.flatMap((action) => [
      [`${action.name}.request`, requestExample(action)],
      [`${action.name}.response`, responseExample(action)],
    ]),
    ['failure', failureExample],
    ['rateLimited', rateLimitedExample],
  ])
}

/** Returns references to the examples of all requests or responses. */
export function exampleRefs(kind: 'request' | 'response'): OpenApiObject {
  const actionExamples = allActions.map(({ name }) => [name, `${name}.${kind}`] as const)
  const failures = [
    ['failure', 'failure'],
    ['rateLimited', 'rateLimited'],
  ] as const
  return Object.fromEntries(
    [...actionExamples, ...(kind === 'response' ? failures : [])].map(([name, component]) => [
      name,
      { $ref: `#/components/examples/${component}` },
    ]),
  )
}

function requestExample(action: Action): OpenApiObject {
  const { name, summary, example } = action
  // svc.identify also accepts a stored face in place of its images; its example has an image.
  const hasImages =
    action.analyzesAllImages === true || toParamsSchema(action).required.includes('images')
  const images = hasImages ? { images: [image] } : {}
  const value = { action: name, requestId, params: { ...images, ...example.params } }
  return { summary, value }
}

function responseExample({ name, summary, example }: Action): OpenApiObject {
  const result = { index: 0, correlationId: 'auto-0', ok: true, value: example.value }
  const value = { ok: true, requestId, action: name, data: { results: [result] }, errors: [] }
  return { summary, value }
}

const failedEnvelope = { ok: false, requestId, action: 'svc.detect', data: null }

const failureExample = {
  summary: 'The image cannot be decoded.',
  value: {
    ...failedEnvelope,
    errors: [
      {
        code: 'IMAGE_DECODE_FAILED',
        message: 'params.images[0].bytes: damaged or truncated',
        path: 'params.images[0].bytes',
        imageIndex: 0,
        correlationId: 'auto-0',
        hint: errorTable.IMAGE_DECODE_FAILED.remedy,
      },
    ],
  },
}

const rateLimitedExample = {
  summary: 'Too many calls: wait for Retry-After, then retry with the same requestId.',
  value: {
    ...failedEnvelope,
    errors: [
      {
        code: 'RATE_LIMITED',
        message: 'Project rate limit exceeded.',
        hint: errorTable.RATE_LIMITED.remedy,
      },
    ],
  },
}
