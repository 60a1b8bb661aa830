import { z } from 'zod'
import type { CallOutput } from '../gate/settle.ts'
import { readBody } from '../http/input/read-body.ts'
import { parseJson } from '../http/input/parse-json.ts'
import { ActionError } from '../lib/errors.ts'
import {
  routeName,
  type CompreFaceRequest,
  type CompreFaceRoute,
  type CompreFaceReply,
  type CallContext,
} from './serve-route.ts'

type JsonRoute<Query, Body> = {
  readonly method: CompreFaceRoute['method']
  readonly path: string
  readonly status?: 201
  /** All that the key must have. */
  readonly permissions: readonly string[] | ((query: Query) => readonly string[])
  /** Makes sense of the request. @throws ActionError INVALID_REQUEST. */
  readonly query: (query: URLSearchParams) => Query
  /** Of the JSON body; without it, the body is not read. */
  readonly body?: z.ZodType<Body>
  readonly run: (
    call: JsonRouteCall<Query, Body>,
  ) => CallOutput<CompreFaceReply> | Promise<CallOutput<CompreFaceReply>>
}

type JsonRouteCall<Query, Body> = CallContext & {
  readonly query: Query
  readonly body: Body
  /** What stands in the path where the route has a `:name`. */
  readonly pathParams: Readonly<Record<string, string>>
}

/** A route without a picture: free of charge, under a permission of the API's own. */
export function defineJsonRoute<Query, Body = undefined>(
  route: JsonRoute<Query, Body>,
): CompreFaceRoute {
  const { method, path, status = 200 } = route
  return {
    method,
    path,
    status,
    parse: async (asked) => {
      const { pathParams: parts } = asked.request
      const query = route.query(asked.request.query)
      // Without a schema there is no body, and the type says so.
      const body = route.body ? await readJson(asked, route.body) : (undefined as Body)
      const permissions =
        typeof route.permissions === 'function' ? route.permissions(query) : route.permissions
      const run = async (at: CallContext) => route.run({ ...at, query, body, pathParams: parts })
      return { name: routeName(route), permissions, units: 0, params: {}, run }
    },
  }
}

/** A list is read as the one field `list` of an object: the parser takes objects alone. */
async function readJson<Body>(
  { request, options }: CompreFaceRequest,
  schema: z.ZodType<Body>,
): Promise<Body> {
  const bytes = await readBody(request, options.bodyBytesMax)
  const isList = schema instanceof z.ZodArray
  const text = isList ? Buffer.concat([Buffer.from('{"list":'), bytes, Buffer.from('}')]) : bytes
  const value = parseJson(text, options.jsonLimits)
  const result = schema.safeParse(isList ? value['list'] : value)
  if (result.success) return result.data
  const problems = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new ActionError('INVALID_REQUEST', problems)
}
