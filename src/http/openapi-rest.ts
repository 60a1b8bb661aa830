import { z } from 'zod'
import type { RestRoute } from './routes/rest.ts'
import { restRoutes } from './routes/all.ts'

type Json = { readonly [key: string]: unknown }

/** The routes behind the key, from the records that serve them. */
export function restPaths(): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of restRoutes)
    (paths[openPath(route.path)] ??= {})[route.method.toLowerCase()] = operationOf(route)
  return paths
}

/** `/v1/subjects/:subjectId` → `/v1/subjects/{subjectId}`. */
export function openPath(path: string): string {
  return path.replaceAll(/:(\w+)/gu, '{$1}')
}

function operationOf(route: RestRoute): Json {
  const refusals = [400, 401, 402, 403, 429, 500, 503]
  if (route.path.includes(':')) refusals.push(404)
  return {
    operationId: route.name,
    tags: ['gallery'],
    summary: route.summary,
    description: `Needs the permission \`${route.permission}\`.`,
    parameters: [...pathParameters(route), ...queryParameters(route)],
    responses: {
      '200': {
        description: route.summary,
        content: { 'application/json': { schema: schemaOf(route.value, 'output') } },
      },
      ...Object.fromEntries(
        refusals.map((status) => [
          String(status),
          { $ref: `#/components/responses/Refusal${status}` },
        ]),
      ),
    },
  }
}

function pathParameters({ path }: RestRoute): Json[] {
  return [...path.matchAll(/:(\w+)/gu)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters({ query }: RestRoute): Json[] {
  const { properties = {} } = z.toJSONSchema(query, { io: 'input' })
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
  }))
}

/** Parts with a name of their own stand among the components already. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, $defs: _named, ...rest } = z.toJSONSchema(schema, { io })
  const text = JSON.stringify(rest).replaceAll('#/$defs/', '#/components/schemas/')
  return JSON.parse(text) as Json
}
