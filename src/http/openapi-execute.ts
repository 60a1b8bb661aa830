import { examplesOf } from './openapi-examples.ts'
import { headersNamed, limitHeaders } from './openapi-headers.ts'
import { refusalsWith } from './openapi-refusals.ts'
import { refTo } from './openapi-envelopes.ts'

type Json = { readonly [key: string]: unknown }

/** The header that both the endpoint and the routes take. */
export const versionParameter: Json = {
  name: 'X-Api-Version',
  in: 'header',
  required: false,
  description: 'The version of the envelope; there is one.',
  schema: { type: 'string', const: '1', default: '1' },
}

/** The one endpoint. */
export function executePath(): Json {
  return {
    '/v1/face/execute': {
      post: {
        operationId: 'execute',
        tags: ['face'],
        summary: 'Run one action',
        description: 'Action-level failures are HTTP 200 with `ok` false: branch on `ok`.',
        parameters: [versionParameter],
        requestBody: {
          required: true,
          description: 'The call. Fields that no schema names are refused.',
          content: {
            'application/json': { schema: refTo('Request'), examples: examplesOf('request') },
          },
        },
        responses: {
          '200': {
            description:
              'The action ran, or failed in a way that `errors` tells. Retry-After comes with RATE_LIMITED.',
            headers: headersNamed(['X-Request-Id', ...limitHeaders, 'Retry-After']),
            content: {
              'application/json': { schema: refTo('Response'), examples: examplesOf('answer') },
            },
          },
          ...refusalsWith([400, 401, 405, 408, 413, 415, 431, 500, 503]),
        },
      },
    },
  }
}
