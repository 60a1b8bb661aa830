import type { OpenApiObject } from './schemas.ts'

/** The fields of a call beside its image, in a form or in the query. */
const fields: Readonly<Record<string, OpenApiObject>> = {
  action: { type: 'string', description: 'The action.' },
  params: {
    type: 'string',
    description: 'The other parameters of the action as JSON, without `images`; `{}` by default.',
  },
  requestId: { type: 'string', format: 'uuid', description: 'As in JSON.' },
  debug: { type: 'string', enum: ['true', 'false'], description: 'As in JSON.' },
  correlationId: { type: 'string', description: 'That of the image.' },
}

/** Returns the contents of a call that are not JSON, and the parameters of an image as the body. */
export function binaryBody(imageBodyTypes: readonly string[]): {
  readonly content: OpenApiObject
  readonly parameters: readonly OpenApiObject[]
} {
  const form = {
    type: 'object',
    properties: {
      image: { type: 'string', contentMediaType: 'application/octet-stream' },
      ...fields,
    },
    required: ['action', 'image'],
    additionalProperties: false,
  }
  const images = imageBodyTypes.map((type) => [type, { schema: {} }])
  const parameters = Object.entries(fields).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    description: `Only with an image as the body. ${String(description)}`,
    schema,
  }))
  return {
    content: { 'multipart/form-data': { schema: form }, ...Object.fromEntries(images) },
    parameters,
  }
}
