import { z } from 'zod'
import type { Action } from '../../actions/action.ts'
import { allActions } from '../../actions/all-actions.ts'
import { errorTable } from '../../lib/errors.ts'
import { mapValues } from '../../lib/map-values.ts'
import { restRoutes } from '../routes/rest-routes.ts'
import components from './components.json' with { type: 'json' }
import { openCodes, toRequestSchema, toResponseSchema } from './request-schema.ts'

export type OpenApiObject = { readonly [key: string]: unknown }

/**
 * Returns `components.schemas`: the values of actions and routes, and the envelopes around them.
 *
 * @param accepted the content types of images that the server accepts.
 */
export function openApiSchemas(accepted: readonly string[]): OpenApiObject {
  const schemas = registeredSchemas()
  return {
    ...schemas,
    ImageItem: withContentTypes(schemas['ImageItem'], accepted),
    ...Object.fromEntries(
      allActions.flatMap((action) => [
        [`${schemaName(action)}Request`, requestSchema(action)],
        [`${schemaName(action)}Success`, successSchema(action)],
      ]),
    ),
    Request: {
      description: 'A call; `action` selects one of these.',
      oneOf: allActions.map((action) => schemaRef(`${schemaName(action)}Request`)),
      discriminator: {
        propertyName: 'action',
        mapping: Object.fromEntries(
          allActions.map((action) => [action.name, schemaRef(`${schemaName(action)}Request`).$ref]),
        ),
      },
    },
    Response: {
      description: 'Branch on `ok`; if it is true, `action` selects one of these.',
      oneOf: [
        ...allActions.map((action) => schemaRef(`${schemaName(action)}Success`)),
        schemaRef('Failure'),
      ],
    },
    ...components.schemas,
    ErrorCode: errorCodeSchema(),
  }
}

/** Returns the named zod schemas: those of requests as they are sent, all others as returned. */
function registeredSchemas(): OpenApiObject {
  const schemasOf = (io: 'input' | 'output') =>
    z.toJSONSchema(z.globalRegistry, { io, uri: (id) => schemaRef(id).$ref }).schemas
  const inputs = schemasOf('input')
  const sent = new Set(['ImageItem', ...restRoutes.map(({ body }) => body?.meta()?.id)])
  return mapValues(schemasOf('output'), (output, id) => {
    const isSent = id.endsWith('Params') || sent.has(id)
    const named = isSent ? toRequestSchema(inputs[id] ?? output) : toResponseSchema(output)
    const { $schema: _dialect, $id: _address, ...schema } = named
    return schema
  })
}

/** The schemas of the service contain the content types that any server can accept. */
function withContentTypes(schema: unknown, accepted: readonly string[]): OpenApiObject {
  const { properties, ...imageItem } = schema as { readonly properties: OpenApiObject }
  const contentType = { type: 'string', enum: accepted, description: 'The type of the bytes.' }
  return { ...imageItem, properties: { ...properties, contentType } }
}

function errorCodeSchema(): OpenApiObject {
  const codes = Object.entries(errorTable).filter(([, { status }]) => status === 200)
  return openCodes({
    type: 'string',
    description: '`x-error-catalogue` describes the remedy for each code.',
    enum: codes.map(([code]) => code),
    'x-enum-descriptions': codes.map(([, { condition, remedy }]) => `${condition} ${remedy}`),
  })
}

function requestSchema(action: Action): OpenApiObject {
  const { name, summary, errors } = action
  const { requestId, debug, validateOnly } = components.requestFields
  const codes = errors.map((code) => `\`${code}\``).join(', ')
  return objectSchema(
    {
      action: { type: 'string', const: name },
      requestId,
      params: schemaRef(`${schemaName(action)}Params`),
      debug: toRequestSchema(debug),
      validateOnly: toRequestSchema(validateOnly),
    },
    {
      description: `${summary} ${describePrice(action)} Needs the permission ${describePermissions(action)}. Error codes of this action: ${codes}.`,
      required: ['action', 'params'],
      additionalProperties: false,
    },
  )
}

/** Returns the permission of an action, and those that some of its calls need in addition. */
export function describePermissions({ name, furtherPermissions = [] }: Action): string {
  const further = furtherPermissions.map(
    ({ permission, condition }) => `in addition \`${permission}\` ${condition}`,
  )
  return [`\`${name}\``, ...further].join('; ')
}

function describePrice({ price, resultPerImage }: Action): string {
  if (resultPerImage === 'always') return `Costs ${price(1)} units per image when ok.`
  const [withoutImage, withImage] = [price(0), price(1)]
  if (withImage === 0) return 'Free.'
  const units = `${withImage} unit${withImage === 1 ? '' : 's'}`
  const perImage = price(2, { allImages: true }) > withImage ? '; with `allImages`, per image' : ''
  return withoutImage === withImage
    ? `Costs ${units} when ok${perImage}.`
    : `Costs ${units} with an image, otherwise free.`
}

function successSchema(action: Action): OpenApiObject {
  const item = objectSchema(
    {
      index: { type: 'integer', minimum: 0, description: 'The index of the image.' },
      correlationId: {
        type: 'string',
        description: 'As sent with the image; `auto-<index>` if it has none.',
      },
      ok: { type: 'boolean', const: true },
      value: schemaRef(`${schemaName(action)}Value`),
    },
    {},
  )
  const items = action.resultPerImage ? { oneOf: [item, schemaRef('FailedItem')] } : item
  const description = 'Empty only with `validateOnly`.'
  const results = { type: 'array', description, items }
  return objectSchema(
    {
      ok: { type: 'boolean', const: true },
      requestId: { type: 'string', format: 'uuid', description: 'As sent, or generated.' },
      action: { type: 'string', const: action.name },
      data: objectSchema(
        { results, validation: schemaRef('Validation') },
        { required: ['results'] },
      ),
      errors: { type: 'array', items: schemaRef('Problem'), maxItems: 0 },
      meta: schemaRef('Meta'),
    },
    {
      required: ['ok', 'requestId', 'action', 'data', 'errors'],
      description: `The response of \`${action.name}\` when it succeeded.`,
    },
  )
}

/** `svc.deleteSubject` → `DeleteSubject`. */
function schemaName({ name }: Pick<Action, 'name'>): string {
  const bareName = name.slice(name.indexOf('.') + 1)
  return bareName.charAt(0).toUpperCase() + bareName.slice(1)
}

export function schemaRef(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

function objectSchema(properties: OpenApiObject, keywords: OpenApiObject): OpenApiObject {
  return { type: 'object', properties, required: Object.keys(properties), ...keywords }
}
