import { exampleRefs } from './examples.ts'
import { headerRefs, rateLimitHeaders } from './headers.ts'
import { errorResponseRefs } from './error-responses.ts'
import { schemaRef } from './envelope-schemas.ts'

type OpenApiObject = { readonly [key: string]: unknown }

/** The header that both the endpoint and the routes take. */
export const versionParameter: OpenApiObject = {
  name: 'X-Api-Version',
  in: 'header',
  required: false,
  description: 'The version of the envelope; there is one.',
  schema: { type: 'string', const: '1', default: '1' },
}

/** The one endpoint. */
export function executePath(): OpenApiObject {
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
            'application/json': { schema: schemaRef('Request'), examples: exampleRefs('request') },
          },
        },
        responses: {
          '200': {
            description:
              'The action ran, or failed in a way that `errors` tells. Retry-After comes with RATE_LIMITED.',
            headers: headerRefs(['X-Request-Id', ...rateLimitHeaders, 'Retry-After']),
            content: {
              'application/json': {
                schema: schemaRef('Response'),
                examples: exampleRefs('answer'),
              },
            },
          },
          ...errorResponseRefs([400, 401, 405, 408, 413, 415, 431, 500, 503]),
        },
      },
    },
  }
}
