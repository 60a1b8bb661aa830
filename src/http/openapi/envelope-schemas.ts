import type { Action } from '../../actions/action.ts'

type OpenApiObject = { readonly [key: string]: unknown }

/** The request of an action. */
export function requestSchema(action: Action): OpenApiObject {
  const { name, summary, errors } = action
  const own = errors.map((code) => `\`${code}\``).join(', ')
  return objectSchema(
    {
      action: { type: 'string', const: name },
      requestId: {
        type: 'string',
        format: 'uuid',
        description: 'Yours, for safe retries; generated when absent.',
      },
      params: schemaRef(`${schemaName(action)}Params`),
      debug: {
        type: 'boolean',
        default: false,
        description: 'Asks how the answer came about; needs the permission `debug`.',
      },
    },
    {
      description: `${summary} ${describePrice(action)} Needs the permission \`${name}\`. Own errors: ${own}.`,
      required: ['action', 'params'],
      additionalProperties: false,
    },
  )
}

function describePrice({ price }: Action): string {
  if (isBatch({ price })) return `Costs ${price(1)} units an image when ok.`
  const [without, one] = [price(0), price(1)]
  if (one === 0) return 'Free.'
  const units = `${one} unit${one === 1 ? '' : 's'}`
  return without === one ? `Costs ${units} when ok.` : `Costs ${units} with an image, else free.`
}

/** An action that charges each image gives each a result of its own, which may be a failure. */
function isBatch({ price }: Pick<Action, 'price'>): boolean {
  return price(2) > price(1)
}

/** The envelope of an action that ran. */
export function successSchema(action: Action): OpenApiObject {
  const item = objectSchema(
    {
      index: { type: 'integer', minimum: 0, description: 'Which image.' },
      correlationId: textSchema('That of the image; `auto-<index>` when it has none.'),
      ok: { type: 'boolean', const: true },
      value: schemaRef(`${schemaName(action)}Value`),
    },
    {},
  )
  const items = isBatch(action) ? { oneOf: [item, schemaRef('FailedItem')] } : item
  return envelopeSchema(
    {
      ok: { type: 'boolean', const: true },
      action: { type: 'string', const: action.name },
      data: objectSchema({ results: { type: 'array', minItems: 1, items } }, {}),
      errors: { type: 'array', items: schemaRef('Problem'), maxItems: 0 },
    },
    `What \`${action.name}\` answers when it ran.`,
  )
}

/** The envelope of one that did not. */
export function failureSchema(): OpenApiObject {
  return envelopeSchema(
    {
      ok: { type: 'boolean', const: false },
      action: textSchema('As it was sent.'),
      data: { type: 'null' },
      errors: { type: 'array', items: schemaRef('Problem'), minItems: 1 },
    },
    'An action that was refused or failed. Nothing is billed.',
  )
}

export function failedItemSchema(): OpenApiObject {
  return objectSchema(
    {
      index: { type: 'integer', minimum: 0 },
      correlationId: textSchema('That of the image; `auto-<index>` when it has none.'),
      ok: { type: 'boolean', const: false },
      value: objectSchema({ error: schemaRef('Problem') }, {}),
    },
    { description: 'An image of a batch that failed, where others did not.' },
  )
}

function envelopeSchema(
  { ok, action, ...rest }: OpenApiObject,
  description: string,
): OpenApiObject {
  const requestId = { type: 'string', format: 'uuid', description: 'Yours, or the generated one.' }
  const properties = { ok, requestId, action, ...rest, meta: schemaRef('Meta') }
  const required = ['ok', 'requestId', 'action', 'data', 'errors']
  return objectSchema(properties, { description, required, additionalProperties: false })
}

/** `svc.deleteSubject` → `DeleteSubject`. */
export function schemaName({ name }: Pick<Action, 'name'>): string {
  const bare = name.slice(name.indexOf('.') + 1)
  return bare.charAt(0).toUpperCase() + bare.slice(1)
}

export function schemaRef(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

export function objectSchema(properties: OpenApiObject, more: OpenApiObject): OpenApiObject {
  return { type: 'object', properties, required: Object.keys(properties), ...more }
}

export function textSchema(description: string): OpenApiObject {
  return { type: 'string', description }
}
