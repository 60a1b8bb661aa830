import { refusalsWith, type RefusalStatus } from './openapi-refusals.ts'

type Json = { readonly [key: string]: unknown }

type ServicePage = {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly type: string
  readonly schema: Json
  readonly refusals?: readonly RefusalStatus[]
}

/** The routes without a key. */
export function servicePaths(): Json {
  return Object.fromEntries(Object.entries(pages).map(([path, page]) => [path, { get: get(page) }]))
}

const flag = (name: string): Json => ({
  type: 'object',
  properties: { [name]: { type: 'boolean', const: true } },
  required: [name],
})

const pages: Readonly<Record<string, ServicePage>> = {
  '/healthz': {
    operationId: 'healthz',
    summary: 'The process is alive',
    description: 'Answers as long as the process does, whether or not calls can be answered.',
    type: 'application/json',
    schema: flag('ok'),
  },
  '/readyz': {
    operationId: 'readyz',
    summary: 'Calls can be answered',
    description: '503 names every reason why they cannot: workers, database, disk.',
    type: 'application/json',
    schema: flag('ready'),
    refusals: [503],
  },
  '/metrics': {
    operationId: 'metrics',
    summary: 'Metrics',
    description: 'In the text format of Prometheus.',
    type: 'text/plain',
    schema: { type: 'string' },
  },
  '/v1/openapi.json': {
    operationId: 'openapi',
    summary: 'This description',
    description: 'OpenAPI 3.1, derived from the schemas that validate.',
    type: 'application/json',
    schema: { type: 'object' },
  },
  '/docs': {
    operationId: 'docs',
    summary: 'The documentation',
    description: 'A page for people, made of the same records.',
    type: 'text/html',
    schema: { type: 'string' },
  },
}

function get({
  operationId,
  summary,
  description,
  type,
  schema,
  refusals = [],
}: ServicePage): Json {
  return {
    operationId,
    tags: ['service'],
    summary,
    description,
    security: [],
    responses: {
      '200': { description: summary, content: { [type]: { schema } } },
      ...refusalsWith([405, ...refusals]),
    },
  }
}
