import { errorResponseRefs, type ErrorStatus } from './error-responses.ts'

type OpenApiObject = { readonly [key: string]: unknown }

type ServiceOperation = {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly contentType: string
  readonly schema: OpenApiObject
  readonly errorStatuses?: readonly ErrorStatus[]
}

/** The routes without a key. */
export function servicePaths(): OpenApiObject {
  return Object.fromEntries(
    Object.entries(serviceOperations).map(([path, page]) => [path, { get: toOperation(page) }]),
  )
}

const trueFlagSchema = (name: string): OpenApiObject => ({
  type: 'object',
  properties: { [name]: { type: 'boolean', const: true } },
  required: [name],
})

const serviceOperations: Readonly<Record<string, ServiceOperation>> = {
  '/healthz': {
    operationId: 'healthz',
    summary: 'The process is alive',
    description: 'Answers as long as the process does, whether or not calls can be answered.',
    contentType: 'application/json',
    schema: trueFlagSchema('ok'),
  },
  '/readyz': {
    operationId: 'readyz',
    summary: 'Calls can be answered',
    description: '503 names every reason why they cannot: workers, database, disk.',
    contentType: 'application/json',
    schema: trueFlagSchema('ready'),
    errorStatuses: [503],
  },
  '/metrics': {
    operationId: 'metrics',
    summary: 'Metrics',
    description: 'In the text format of Prometheus.',
    contentType: 'text/plain',
    schema: { type: 'string' },
  },
  '/v1/openapi.json': {
    operationId: 'openapi',
    summary: 'This description',
    description: 'OpenAPI 3.1, derived from the schemas that validate.',
    contentType: 'application/json',
    schema: { type: 'object' },
  },
  '/docs': {
    operationId: 'docs',
    summary: 'The documentation',
    description: 'A page for people, made of the same records.',
    contentType: 'text/html',
    schema: { type: 'string' },
  },
}

function toOperation({
  operationId,
  summary,
  description,
  contentType: type,
  schema,
  errorStatuses: refusals = [],
}: ServiceOperation): OpenApiObject {
  return {
    operationId,
    tags: ['service'],
    summary,
    description,
    security: [],
    responses: {
      '200': { description: summary, content: { [type]: { schema } } },
      ...errorResponseRefs([405, ...refusals]),
    },
  }
}
