import { z } from 'zod'
import type { Action } from '../actions/action.ts'
import { allActions } from '../actions/all.ts'
import { errorTable, type ErrorCode } from '../lib/errors.ts'
import { restPaths } from './openapi-rest.ts'

type Json = { readonly [key: string]: unknown }

/** The OpenAPI 3.1 description of the service, derived from the schemas that validate. */
export function openApi(version: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Facegate',
      version,
      description: 'Self-hosted face recognition: one endpoint, an action per call.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'face', description: 'The actions.' },
      { name: 'gallery', description: 'What the gallery holds.' },
      { name: 'service', description: 'About the service itself.' },
    ],
    paths: {
      '/v1/face/execute': { post: executeOperation() },
      ...restPaths(),
      ...servicePaths(),
    },
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } },
      schemas: schemas(),
      responses: refusals(),
    },
  }
}

function executeOperation(): Json {
  return {
    operationId: 'execute',
    tags: ['face'],
    summary: 'Run one action',
    description: 'Action-level failures are HTTP 200 with `ok` false: branch on `ok`.',
    parameters: [
      {
        name: 'X-Api-Version',
        in: 'header',
        required: false,
        schema: { type: 'string', const: '1', default: '1' },
      },
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Request' },
          examples: Object.fromEntries(
            allActions.map((action) => [action.name, exampleOf(action)]),
          ),
        },
      },
    },
    responses: {
      '200': {
        description: 'The action ran, or failed in a way that the errors tell.',
        headers: answerHeaders(),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Response' } } },
      },
      ...Object.fromEntries(
        [400, 401, 413, 415, 500, 503].map((status) => [
          String(status),
          { $ref: `#/components/responses/Refusal${status}` },
        ]),
      ),
    },
  }
}

/** On every answer to a call with a good key. */
function answerHeaders(): Json {
  const whole = (description: string): Json => ({ description, schema: { type: 'integer' } })
  return {
    'X-Request-Id': { schema: { type: 'string', format: 'uuid' } },
    'RateLimit-Limit': whole('Calls that the project may make at once.'),
    'RateLimit-Remaining': whole('Calls that it may make at once now.'),
    'RateLimit-Reset': whole('Seconds until it may make all of them again.'),
    'Retry-After': whole('Seconds to wait; with RATE_LIMITED and with HTTP 503.'),
  }
}

/** A request as a client would send it; the image is cut to its first bytes. */
function exampleOf({ name, summary, example }: Action): Json {
  const images = [{ kind: 'image', contentType: 'image/jpeg', bytes: '/9j/4AAQSkZJRg==' }]
  return { summary, value: { action: name, params: { images, ...example.params } } }
}

function schemas(): Json {
  const named = (io: 'input' | 'output') =>
    z.toJSONSchema(z.globalRegistry, { io, uri: (id) => `#/components/schemas/${id}` }).schemas
  const isParams = ([id]: readonly [string, unknown]): boolean => id.endsWith('Params')
  const bare = ([id, schema]: readonly [string, Json]): [string, Json] => {
    const { $schema: _dialect, $id: _address, ...rest } = schema
    return [id, rest]
  }
  const inputs = Object.entries(named('input')).filter(isParams)
  const outputs = Object.entries(named('output')).filter((entry) => !isParams(entry))
  return {
    ...Object.fromEntries([...outputs, ...inputs].map(bare)),
    ...Object.fromEntries(allActions.map((action) => [requestName(action), requestOf(action)])),
    Request: { oneOf: allActions.map((a) => ({ $ref: `#/components/schemas/${requestName(a)}` })) },
    Response: responseSchema(),
    ErrorCode: { type: 'string', enum: Object.keys(errorTable).filter(isInEnvelope) },
    Refusal: object({ detail: { type: 'string' } }),
  }
}

/** `svc.deleteSubject` → `DeleteSubjectRequest`. */
function requestName({ name }: Action): string {
  return `${schemaName(name)}Request`
}

function schemaName(actionName: string): string {
  const bare = actionName.slice(actionName.indexOf('.') + 1)
  return bare.charAt(0).toUpperCase() + bare.slice(1)
}

function requestOf({ name, summary }: Action): Json {
  return {
    ...object(
      {
        action: { type: 'string', const: name },
        requestId: {
          type: 'string',
          format: 'uuid',
          description: 'Yours, for safe retries; generated when absent.',
        },
        params: { $ref: `#/components/schemas/${schemaName(name)}Params` },
        debug: { type: 'boolean', default: false },
      },
      ['action', 'params'],
    ),
    description: summary,
    additionalProperties: false,
  }
}

function responseSchema(): Json {
  const results = {
    type: 'array',
    items: object({
      index: { type: 'integer' },
      correlationId: { type: 'string' },
      ok: { type: 'boolean' },
      value: {
        oneOf: allActions.map((a) => ({ $ref: `#/components/schemas/${schemaName(a.name)}Value` })),
      },
    }),
  }
  return object(
    {
      ok: { type: 'boolean', description: 'Branch on this.' },
      requestId: { type: 'string', format: 'uuid' },
      action: { type: 'string' },
      data: { oneOf: [object({ results }), { type: 'null' }] },
      errors: {
        type: 'array',
        items: object({
          code: { $ref: '#/components/schemas/ErrorCode' },
          message: { type: 'string' },
        }),
      },
      meta: object({ idempotencyReplay: { type: 'boolean', const: true } }),
    },
    ['ok', 'requestId', 'action', 'data', 'errors'],
  )
}

function object(properties: Json, required: readonly string[] = Object.keys(properties)): Json {
  return { type: 'object', properties, required }
}

function isInEnvelope(code: string): boolean {
  return errorTable[code as ErrorCode].status === 200
}

function refusals(): Json {
  const reasons: Readonly<Record<number, string>> = {
    400: 'Malformed JSON, a body that is no object, or an unsupported X-Api-Version.',
    401: 'The key is missing or unknown, revoked, or expired.',
    402: 'The budget is exhausted.',
    403: 'The key lacks the permission.',
    404: 'There is no such thing in the gallery.',
    413: 'The body is over the limit.',
    415: 'The body is not application/json.',
    429: 'The rate limit of the project is exceeded; see Retry-After.',
    500: 'A fault of the server.',
    503: 'Overload, shutdown, or a part that is down for the moment; see Retry-After.',
  }
  return Object.fromEntries(
    Object.entries(reasons).map(([status, description]) => [
      `Refusal${status}`,
      {
        description,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
      },
    ]),
  )
}

function servicePaths(): Json {
  const get = (operationId: string, summary: string, type: string): Json => ({
    get: {
      operationId,
      tags: ['service'],
      summary,
      security: [],
      responses: { '200': { description: summary, content: { [type]: {} } } },
    },
  })
  return {
    '/healthz': get('healthz', 'The process is alive', 'application/json'),
    '/readyz': get('readyz', 'Calls can be answered', 'application/json'),
    '/metrics': get('metrics', 'Prometheus metrics', 'text/plain'),
    '/v1/openapi.json': get('openapi', 'This description', 'application/json'),
    '/docs': get('docs', 'The documentation', 'text/html'),
  }
}
