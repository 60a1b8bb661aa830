type Json = { readonly [key: string]: unknown }

const whole = (description: string, example: number): Json => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
})

/** Every header that an answer may have. */
export const headers = {
  'X-Request-Id': {
    description: 'The id of the call, also in the log of the service.',
    schema: { type: 'string', format: 'uuid' },
    example: '7f8f4c0e-3a52-4f0b-9a70-0c6c8c2f9f61',
  },
  'RateLimit-Limit': whole('Calls that the project may make at once.', 20),
  'RateLimit-Remaining': whole('Calls that it may make at once now.', 19),
  'RateLimit-Reset': whole('Seconds until it may make all of them again.', 1),
  'Retry-After': whole('Seconds to wait before the next try.', 1),
  Allow: {
    description: 'The methods that the route has.',
    schema: { type: 'string' },
    example: 'GET, HEAD',
  },
} as const satisfies Readonly<Record<string, Json>>

export type HeaderName = keyof typeof headers

/** On every answer that got as far as the rate limit. */
export const limitHeaders = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const

/** `headers` of a response. */
export function headersNamed(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
