import type { OpenApiObject } from '../../http/openapi/openapi-schemas.ts'
import schemas from './schemas.json' with { type: 'json' }

/** The schemas of requests and responses in the format of CompreFace. */
export const compreFaceSchemas: OpenApiObject = schemas

/** Returns an object schema. All fields are required, except those named in `optional`. */
export function record(properties: OpenApiObject, optional: readonly string[] = []): OpenApiObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

export const listOf = (items: OpenApiObject): OpenApiObject => ({ type: 'array', items })

export const compreFaceRef = (name: string): OpenApiObject => ({
  $ref: `#/components/schemas/CompreFace${name}`,
})
