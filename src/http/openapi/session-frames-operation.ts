import { z } from 'zod'
import { sessionFramesResponse } from '../routes/session-frames.ts'
import { errorResponseRefs, headerRefs } from './components.ts'
import { schemaRef, type OpenApiObject } from './openapi-schemas.ts'
import { toResponseSchema } from './request-schema.ts'
import operation from './session-frames-operation.json' with { type: 'json' }

/** Describes the route of browsers, the only one with another credential than an API key. */
export function sessionFramesOperation(): OpenApiObject {
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
