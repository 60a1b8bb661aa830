import { z } from 'zod'
import type { CallOutput } from '../gate/settle.ts'
import { readBody, requireNoBody, textBodyBytesMax } from '../http/input/read-body.ts'
import { requireStorable } from '../http/input/parse-json.ts'
import { parseJsonBody } from '../http/input/parse-large-json.ts'
import { HttpError } from '../lib/errors.ts'
import { requireValid } from '../lib/validation/describe-issue.ts'
import { refuseParameters } from './input/query.ts'
import {
  routeName,
  type CallContext,
  type CompreFaceReply,
  type CompreFaceRequest,
  type CompreFaceRoute,
} from './serve-route.ts'

type JsonRoute<Query, Body> = {
  readonly method: CompreFaceRoute['method']
  readonly path: string
  readonly status?: 201
  /** The API key needs all of them. */
  readonly permissions: readonly string[] | ((query: Query) => readonly string[])
  /**
   * Parses the query. Without it the query is ignored, and of a route that deletes it must be empty.
   *
   * @throws ActionError INVALID_REQUEST.
   */
  readonly query?: (query: URLSearchParams) => Query
  /** The schema of the JSON body. Without it the body is not read. */
  readonly body?: z.ZodType<Body>
  readonly run: (
    call: JsonRouteCall<Query, Body>,
  ) => CallOutput<CompreFaceReply> | Promise<CallOutput<CompreFaceReply>>
}

type JsonRouteCall<Query, Body> = CallContext & {
  readonly query: Query
  readonly body: Body
  /** The values of the `:name` parameters of the path. */
  readonly pathParams: Readonly<Record<string, string>>
}

/** Defines a route without an image. It is free and has a permission of the API. */
export function defineJsonRoute<Query = undefined, Body = undefined>(
  route: JsonRoute<Query, Body>,
): CompreFaceRoute {
  const { method, path, status = 200 } = route
  const permissions = typeof route.permissions === 'function' ? [] : route.permissions
  return {
    method,
    path,
    status,
    known: route.body && { name: routeName(route), permissions },
    parse: async (compreFaceRequest) => {
      const { request } = compreFaceRequest
      const { pathParams, query: searchParams } = request
      if (method === 'DELETE') requireNoBody(request)
      if (method === 'DELETE' && !route.query) refuseParameters(searchParams)
      // Without a parser and a schema, `Query` and `Body` are undefined.
      const query = route.query ? route.query(searchParams) : (undefined as Query)
      const body = route.body ? await readJson(compreFaceRequest, route.body) : (undefined as Body)
      return {
        name: routeName(route),
        permissions:
          typeof route.permissions === 'function' ? route.permissions(query) : permissions,
        units: 0,
        params: {},
        run: async (context) => route.run({ ...context, query, body, pathParams }),
      }
    },
  }
}

/** A list is parsed as the field `list` of an object, because the parser accepts only objects. */
async function readJson<Body>(
  { request, options }: CompreFaceRequest,
  schema: z.ZodType<Body>,
): Promise<Body> {
  const bytes = await readBody(request, textBodyBytesMax)
  const isList = schema instanceof z.ZodArray
  const text = isList ? Buffer.concat([Buffer.from('{"list":'), bytes, Buffer.from('}')]) : bytes
  const parsed = await parseJsonBody(text, options.jsonLimits)
  if (isList && Object.keys(parsed).length > 1)
    throw new HttpError(400, 'The request body has text after the list.')
  const value = isList ? parsed['list'] : parsed
  requireStorable(value, 'body')
  return requireValid(schema, value, 'body')
}
