import { z } from 'zod'
import { mapValues } from '../../lib/map-values.ts'
import type { RestRoute } from '../routes/rest-route.ts'
import { restRoutes } from '../routes/rest-routes.ts'
import { sessionFramesPath, sessionFramesResponse } from '../routes/session-frames.ts'
import components from './components.json' with { type: 'json' }
import { admissionHeaders, errorResponseRefs, exampleRefs, headerRefs } from './components.ts'
import { type OpenApiObject, schemaRef } from './openapi-schemas.ts'
import { toRequestSchema, toResponseSchema } from './request-schema.ts'
import operation from './session-frames-operation.json' with { type: 'json' }

/** Returns `paths`: the endpoint of the actions, the REST routes and the routes without a key. */
export function openApiPaths(imageBodyTypes: readonly string[] | undefined): OpenApiObject {
  return {
    ...executePath(imageBodyTypes),
    ...restPaths(),
    [toOpenApiPath(sessionFramesPath)]: sessionFramesOperation(),
    ...servicePaths(),
  }
}

const { versionParameter, imageBodyFields } = components

/** The statuses that every operation can have: of HTTP, of the server, and while it stops. */
const transportStatuses = [400, 405, 408, 417, 431, 500, 503] as const

function executePath(imageBodyTypes: readonly string[] | undefined): OpenApiObject {
  const binary = imageBodyTypes && binaryBody(imageBodyTypes)
  return {
    '/v1/face/execute': {
      post: {
        ...components.execute,
        parameters: [versionParameter, ...(binary?.parameters ?? [])],
        requestBody: {
          required: true,
          description: 'The call. Unknown fields are rejected.',
          content: {
            ...binary?.content,
            'application/json': { schema: schemaRef('Request'), examples: exampleRefs('request') },
          },
        },
        responses: {
          '200': {
            description:
              'The action succeeded, or failed with `errors`. RATE_LIMITED includes Retry-After.',
            headers: headerRefs(['X-Request-Id', ...admissionHeaders, 'Retry-After']),
            content: {
              'application/json': {
                schema: schemaRef('Response'),
                examples: exampleRefs('response'),
              },
            },
          },
          ...errorResponseRefs([...transportStatuses, 401, 413, 415]),
        },
      },
    },
  }
}

/** Derives the paths of the REST routes from their definitions. */
function restPaths(): OpenApiObject {
  const paths: Record<string, Record<string, OpenApiObject>> = {}
  for (const route of restRoutes)
    (paths[toOpenApiPath(route.path)] ??= {})[route.method.toLowerCase()] = restOperation(route)
  return paths
}

/** `/v1/subjects/:subjectId` → `/v1/subjects/{subjectId}`. */
export function toOpenApiPath(path: string): string {
  return path.replaceAll(/:(\w+)/gu, '{$1}')
}

function restOperation(route: RestRoute): OpenApiObject {
  const { pathParams = z.object({}), permission } = route
  const needs =
    permission === null ? 'Every key may call it.' : `Needs the permission \`${permission}\`.`
  return {
    operationId: route.name,
    tags: [route.tag ?? 'gallery'],
    summary: route.summary,
    description: `${needs} Free of charge.`,
    parameters: [
      ...parametersIn('path', pathParams),
      ...parametersIn('query', route.query),
      versionParameter,
    ],
    ...(route.body && { requestBody: jsonBody(route.body) }),
    responses: {
      '200': {
        description: route.summary,
        headers: headerRefs(['X-Request-Id', ...admissionHeaders]),
        content: {
          'application/json': {
            schema: toResponseSchema(inlineSchema(route.value, 'output')),
            example: route.example,
          },
        },
      },
      ...errorResponseRefs([...transportStatuses, 401, 403, 429]),
      ...errorResponseRefs(route.pathParams || route.hasUnknown === true ? [404] : []),
      ...errorResponseRefs(route.body ? [413, 415] : []),
    },
  }
}

function jsonBody(body: z.ZodType): OpenApiObject {
  const description = 'Unknown fields are rejected.'
  const content = { 'application/json': { schema: toRequestSchema(inlineSchema(body, 'input')) } }
  return { required: true, description, content }
}

function parametersIn(location: 'path' | 'query', fields: z.ZodType): OpenApiObject[] {
  const { properties = {} } = z.toJSONSchema(fields, { io: 'input' })
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } =
      typeof property === 'object' ? toRequestSchema(withFlags(property)) : {}
    const required = location === 'path'
    return { name, in: location, required, ...(description ? { description } : {}), schema }
  })
}

/** The flags of a query are texts: `true` or `false`. */
function withFlags(schema: z.core.JSONSchema.BaseSchema): z.core.JSONSchema.BaseSchema {
  const { enum: values, default: value, ...rest } = schema
  if (values?.join() !== 'true,false') return schema
  return { ...rest, type: 'boolean', default: value === 'true' }
}

/** Replaces definitions of named schemas by references to the components. */
function inlineSchema(schema: z.ZodType, io: 'input' | 'output'): OpenApiObject {
  const { $schema: _dialect, $defs: _named, ...rest } = z.toJSONSchema(schema, { io })
  const text = JSON.stringify(rest).replaceAll('#/$defs/', '#/components/schemas/')
  return JSON.parse(text) as OpenApiObject
}

type ServiceOperation = {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly contentType: string
  readonly schema: OpenApiObject
}

function servicePaths(): OpenApiObject {
  const operations: Readonly<Record<string, ServiceOperation>> = components.serviceOperations
  return mapValues(operations, (operation) => ({ get: serviceOperation(operation) }))
}

function serviceOperation(operation: ServiceOperation): OpenApiObject {
  const { operationId, summary, description, contentType, schema } = operation
  return {
    operationId,
    tags: ['service'],
    summary,
    description,
    security: [],
    responses: {
      '200': { description: summary, content: { [contentType]: { schema } } },
      ...errorResponseRefs(transportStatuses),
    },
  }
}

/** Returns the contents of a call that are not JSON, and the parameters of an image as the body. */
function binaryBody(imageBodyTypes: readonly string[]) {
  const form = {
    type: 'object',
    properties: {
      image: { type: 'string', contentMediaType: 'application/octet-stream' },
      ...imageBodyFields,
    },
    required: ['action', 'image'],
    additionalProperties: false,
  }
  const images = imageBodyTypes.map((type) => [type, { schema: {} }])
  const parameters = Object.entries(imageBodyFields).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    description: `Only with an image as the body. ${description}`,
    schema,
  }))
  return {
    content: { 'multipart/form-data': { schema: form }, ...Object.fromEntries(images) },
    parameters,
  }
}

/** Describes the route of browsers, the only one with another credential than an API key. */
function sessionFramesOperation(): OpenApiObject {
  const { $schema: _dialect, ...response } = z.toJSONSchema(sessionFramesResponse)
  const json = (schema: OpenApiObject) => ({ content: { 'application/json': { schema } } })
  const ok = { description: operation.summary, headers: headerRefs(['X-Request-Id']) }
  const requestBody = { required: true, description: 'The call.', ...json(schemaRef('Request')) }
  const responses = {
    '200': { ...ok, ...json(toResponseSchema(response)) },
    ...errorResponseRefs([400, 401, 403, 404, 405, 408, 413, 415, 417, 429, 431, 500, 503]),
  }
  return { post: { ...operation, requestBody, responses } }
}
