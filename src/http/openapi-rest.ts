import { z } from 'zod'
import { groupName, subjectId } from '../actions/fields.ts'
import { versionParameter } from './openapi-execute.ts'
import { headersNamed, limitHeaders } from './openapi-headers.ts'
import { refusalsWith } from './openapi-refusals.ts'
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
        headers: headersNamed(['X-Request-Id', ...limitHeaders]),
        content: {
          'application/json': { schema: schemaOf(route.value, 'output'), example: route.example },
        },
      },
      ...refusalsWith([400, 401, 402, 403, ...(hasPart ? [404 as const] : []), 405]),
      ...refusalsWith([408, 429, 431, 500, 503]),
    },
  }
}

/** What may stand in a path; anything else is answered 404. */
const parts: Readonly<Record<string, z.ZodType>> = { subjectId, name: groupName }

function pathParameters({ path }: RestRoute): Json[] {
  return [...path.matchAll(/:(\w+)/gu)].map(([, name = '']) => {
    const { description, ...schema } = schemaOf(parts[name] ?? z.string(), 'input')
    return { name, in: 'path', required: true, ...(description ? { description } : {}), schema }
  })
}

function queryParameters({ query }: RestRoute): Json[] {
  const { properties = {} } = z.toJSONSchema(query, { io: 'input' })
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = typeof property === 'object' ? property : {}
    return { name, in: 'query', required: false, ...(description ? { description } : {}), schema }
  })
}

/** Parts with a name of their own stand among the components already. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, $defs: _named, ...rest } = z.toJSONSchema(schema, { io })
  const text = JSON.stringify(rest).replaceAll('#/$defs/', '#/components/schemas/')
  return JSON.parse(text) as Json
}
