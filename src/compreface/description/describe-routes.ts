import type { OptionalRoutes } from '../../http/openapi/openapi.ts'
import { toOpenApiPath } from '../../http/openapi/paths.ts'
import type { OpenApiObject } from '../../http/openapi/openapi-schemas.ts'
import { compreFaceRouteList } from '../compreface-routes.ts'
import type { CompreFaceRoute } from '../serve-route.ts'
import type { RouteDescription } from './route-description.ts'
import { compreFaceRef, compreFaceSchemas, record } from './schemas.ts'

/** Returns the description of the routes of CompreFace for the OpenAPI document. */
export function compreFaceDescription(): OptionalRoutes {
  const paths: Record<string, Record<string, OpenApiObject>> = {}
  for (const { description, ...route } of compreFaceRouteList) {
    if (!description) continue
    const operations = (paths[toOpenApiPath(route.path)] ??= {})
    operations[route.method.toLowerCase()] = operationOf({ ...route, ...description })
  }
  return {
    tag: {
      name: 'compreface',
      description:
        'The routes of the CompreFace REST API, version 1 (`COMPREFACE_API=on`). docs/reference/compreface.md lists the differences.',
    },
    paths,
    schemas: compreFaceSchemas,
  }
}

type DescribedRoute = RouteDescription & Pick<CompreFaceRoute, 'path' | 'status'>

function operationOf(route: DescribedRoute): OpenApiObject {
  const {
    operationId,
    summary,
    permissions,
    furtherPermissions,
    units = 0,
    status,
    response,
  } = route
  const names = permissions.map((name) => `\`${name}\``).join(' and ')
  const plural = permissions.length > 1 ? 's' : ''
  const price = units === 0 ? 'Free of charge.' : `Costs ${units} units.`
  const failure = {
    description: 'The call failed and costs nothing. 429 and 503 include Retry-After.',
    content: { 'application/json': { schema: compreFaceRef('Error') } },
  }
  return {
    operationId,
    tags: ['compreface'],
    summary,
    description: [`Needs the permission${plural} ${names}.`, furtherPermissions, price]
      .filter(Boolean)
      .join(' '),
    parameters: [...pathParameters(route), ...(route.query ?? [])],
    ...(route.images && { requestBody: imageBody(route.images) }),
    ...(route.body && { requestBody: jsonBody(route.body) }),
    responses: {
      [status]: {
        description: summary,
        ...(route.images && { headers: unsupportedPlugins }),
        content: { 'application/json': { schema: compreFaceRef(response) } },
      },
      // By number: a generator makes no valid name of the range 4XX.
      '400': failure,
      '401': failure,
      default: failure,
    },
  }
}

const unsupportedPlugins: OpenApiObject = {
  'X-Unsupported-Plugins': {
    description: 'The names in `face_plugins` that the response does not contain.',
    schema: { type: 'string' },
    example: 'mask,calculator',
  },
}

function pathParameters({ path }: DescribedRoute): OpenApiObject[] {
  return [...path.matchAll(/:(\w+)/gu)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: name === 'image_id' ? { type: 'string', format: 'uuid' } : { type: 'string' },
  }))
}

/** A form with files, or a JSON object with base64. */
function imageBody(names: readonly string[]): OpenApiObject {
  const fields = (schema: OpenApiObject): OpenApiObject =>
    record(Object.fromEntries(names.map((name) => [name, schema])))
  return {
    required: true,
    description: 'JPEG or PNG of at most 8 MiB each.',
    content: {
      'multipart/form-data': { schema: fields({ type: 'string', format: 'binary' }) },
      'application/json': {
        schema: fields({ type: 'string', contentEncoding: 'base64', description: 'Base64.' }),
      },
    },
  }
}

function jsonBody(schema: OpenApiObject): OpenApiObject {
  return { required: true, content: { 'application/json': { schema } } }
}
