import { z } from 'zod'
import { groupName, subjectId } from '../../actions/schemas/fields.ts'
import { versionParameter } from './execute-path.ts'
import { headerRefs, rateLimitHeaders } from './headers.ts'
import { errorResponseRefs } from './error-responses.ts'
import type { RestRoute } from '../routes/rest-route.ts'
import { restRoutes } from '../routes/rest-routes.ts'

type OpenApiObject = { readonly [key: string]: unknown }

/** The routes behind the key, from the records that serve them. */
export function restPaths(): OpenApiObject {
  const paths: Record<string, Record<string, OpenApiObject>> = {}
  for (const route of restRoutes)
    (paths[toOpenApiPath(route.path)] ??= {})[route.method.toLowerCase()] = toOperation(route)
  return paths
}

/** `/v1/subjects/:subjectId` → `/v1/subjects/{subjectId}`. */
export function toOpenApiPath(path: string): string {
  return path.replaceAll(/:(\w+)/gu, '{$1}')
}

function toOperation(route: RestRoute): OpenApiObject {
  const hasPart = route.path.includes(':')
  return {
    operationId: route.name,
    tags: ['gallery'],
    summary: route.summary,
    description: `Needs the permission \`${route.permission}\`. Free of charge.`,
    parameters: [...pathParameters(route), ...queryParameters(route), versionParameter],
    responses: {
      '200': {
        description: route.summary,
        headers: headerRefs(['X-Request-Id', ...rateLimitHeaders]),
        content: {
          'application/json': {
            schema: inlineSchema(route.value, 'output'),
            example: route.example,
          },
        },
      },
      ...errorResponseRefs([400, 401, 402, 403, ...(hasPart ? [404 as const] : []), 405]),
      ...errorResponseRefs([408, 429, 431, 500, 503]),
    },
  }
}

/** What may stand in a path; anything else is answered 404. */
const pathParameterSchemas: Readonly<Record<string, z.ZodType>> = { subjectId, name: groupName }

function pathParameters({ path }: RestRoute): OpenApiObject[] {
  return [...path.matchAll(/:(\w+)/gu)].map(([, name = '']) => {
    const { description, ...schema } = inlineSchema(
      pathParameterSchemas[name] ?? z.string(),
      'input',
    )
    return { name, in: 'path', required: true, ...(description ? { description } : {}), schema }
  })
}

function queryParameters({ query }: RestRoute): OpenApiObject[] {
  const { properties = {} } = z.toJSONSchema(query, { io: 'input' })
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = typeof property === 'object' ? property : {}
    return { name, in: 'query', required: false, ...(description ? { description } : {}), schema }
  })
}

/** Parts with a name of their own stand among the components already. */
function inlineSchema(schema: z.ZodType, io: 'input' | 'output'): OpenApiObject {
  const { $schema: _dialect, $defs: _named, ...rest } = z.toJSONSchema(schema, { io })
  const text = JSON.stringify(rest).replaceAll('#/$defs/', '#/components/schemas/')
  return JSON.parse(text) as OpenApiObject
}
