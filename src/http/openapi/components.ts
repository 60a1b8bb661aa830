import type { Action } from '../../actions/action.ts'
import { allActions } from '../../actions/all-actions.ts'
import { toParamsSchema } from '../../actions/schemas/params-schema.ts'
import { apiKeyChallenge, unauthorizedMessages } from '../../gate/authenticate.ts'
import components from './components.json' with { type: 'json' }
import type { OpenApiObject } from './openapi-schemas.ts'

/** `components.headers`: every header that a response may have. */
export const openApiHeaders = {
  ...components.headers,
  'WWW-Authenticate': {
    ...components.headers['WWW-Authenticate'],
    example: apiKeyChallenge({ bearerKeys: false })['www-authenticate'],
  },
}

/** The headers of every response to a call that reached the admission. */
export const admissionHeaders = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
  'Server-Timing',
] as const

/** Returns the `headers` of a response. */
export function headerRefs(names: readonly string[]): OpenApiObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

type ErrorResponseDefinition = {
  readonly description: string
  /** An example of `detail`. */
  readonly detail: string
  readonly headers: readonly string[]
}

/** Every status except 200, with its causes. */
export const errorResponseTable: Readonly<Record<ErrorStatus, ErrorResponseDefinition>> = {
  ...components.errorResponses,
  401: { ...components.errorResponses[401], detail: unauthorizedMessages.unknown },
}

type ErrorStatus = keyof typeof components.errorResponses extends `${infer Status extends number}`
  ? Status
  : never

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

const { requestId } = components.failures.failure.value

/** An image, truncated to its first bytes. */
const image = { kind: 'image', contentType: 'image/jpeg', bytes: '/9j/4AAQSkZJRg==' }

/** Returns `components.examples`: a request and a response of every action, and two failures. */
export function openApiExamples(): OpenApiObject {
  return Object.fromEntries([
    ...allActions.flatMap((action) => [
      [`${action.name}.request`, requestExample(action)],
      [`${action.name}.response`, responseExample(action)],
    ]),
    ...Object.entries(components.failures),
  ])
}

/** Returns references to the examples of all requests or responses. */
export function exampleRefs(kind: 'request' | 'response'): OpenApiObject {
  const actionExamples = allActions.map(({ name }) => [name, `${name}.${kind}`] as const)
  const failures = Object.keys(components.failures).map((name) => [name, name] as const)
  return Object.fromEntries(
    [...actionExamples, ...(kind === 'response' ? failures : [])].map(([name, component]) => [
      name,
      { $ref: `#/components/examples/${component}` },
    ]),
  )
}

function requestExample(action: Action): OpenApiObject {
  const { name, summary, example } = action
  // Some actions also accept a stored face or a session in place of images; the examples have images.
  const isTuple = toParamsSchema(action).properties['images']?.prefixItems !== undefined
  const hasImages = action.analyzesAllImages === true || isTuple
  const images = hasImages ? { images: [image] } : {}
  const value = { action: name, requestId, params: { ...images, ...example.params } }
  return { summary, value }
}

function responseExample({ name, summary, example }: Action): OpenApiObject {
  const result = { index: 0, correlationId: 'auto-0', ok: true, value: example.value }
  const value = { ok: true, requestId, action: name, data: { results: [result] }, errors: [] }
  return { summary, value }
}
