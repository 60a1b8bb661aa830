type OpenApiObject = { readonly [key: string]: unknown }

const integerHeader = (description: string, example: number): OpenApiObject => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
})

/** Every header that an answer may have. */
export const openApiHeaders = {
  'X-Request-Id': {
    description: 'The id of the call, also in the log of the service.',
    schema: { type: 'string', format: 'uuid' },
    example: '7f8f4c0e-3a52-4f0b-9a70-0c6c8c2f9f61',
  },
  'RateLimit-Limit': integerHeader('Calls that the project may make at once.', 20),
  'RateLimit-Remaining': integerHeader('Calls that it may make at once now.', 19),
  'RateLimit-Reset': integerHeader('Seconds until it may make all of them again.', 1),
  'Retry-After': integerHeader('Seconds to wait before the next try.', 1),
  Allow: {
    description: 'The methods that the route has.',
    schema: { type: 'string' },
    example: 'GET, HEAD',
  },
} as const satisfies Readonly<Record<string, OpenApiObject>>

export type HeaderName = keyof typeof openApiHeaders

/** On every answer that got as far as the rate limit. */
export const rateLimitHeaders = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
] as const

/** `headers` of a response. */
export function headerRefs(names: readonly HeaderName[]): OpenApiObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
