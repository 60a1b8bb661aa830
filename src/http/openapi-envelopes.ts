import type { Action } from '../actions/action.ts'

type Json = { readonly [key: string]: unknown }

/** The request of an action. */
export function requestOf(action: Action): Json {
  const { name, summary, errors } = action
  const own = errors.map((code) => `\`${code}\``).join(', ')
  return object(
    {
      action: { type: 'string', const: name },
      requestId: {
        type: 'string',
        format: 'uuid',
        description: 'Yours, for safe retries; generated when absent.',
      },
      params: refTo(`${schemaName(action)}Params`),
      debug: {
        type: 'boolean',
        default: false,
        description: 'Asks how the answer came about; needs the permission `debug`.',
      },
    },
    {
      description: `${summary} ${priceOf(action)} Needs the permission \`${name}\`. Own errors: ${own}.`,
      required: ['action', 'params'],
      additionalProperties: false,
    },
  )
}

function priceOf({ price }: Action): string {
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
export function successOf(action: Action): Json {
  const item = object(
    {
      index: { type: 'integer', minimum: 0, description: 'Which image.' },
      correlationId: text('That of the image; `auto-<index>` when it has none.'),
      ok: { type: 'boolean', const: true },
      value: refTo(`${schemaName(action)}Value`),
    },
    {},
  )
  const items = isBatch(action) ? { oneOf: [item, refTo('FailedItem')] } : item
  return envelope(
    {
      ok: { type: 'boolean', const: true },
      action: { type: 'string', const: action.name },
      data: object({ results: { type: 'array', minItems: 1, items } }, {}),
      errors: { type: 'array', items: refTo('Problem'), maxItems: 0 },
    },
    `What \`${action.name}\` answers when it ran.`,
  )
}

/** The envelope of one that did not. */
export function failure(): Json {
  return envelope(
    {
      ok: { type: 'boolean', const: false },
      action: text('As it was sent.'),
      data: { type: 'null' },
      errors: { type: 'array', items: refTo('Problem'), minItems: 1 },
    },
    'An action that was refused or failed. Nothing is billed.',
  )
}

export function failedItem(): Json {
  return object(
    {
      index: { type: 'integer', minimum: 0 },
      correlationId: text('That of the image; `auto-<index>` when it has none.'),
      ok: { type: 'boolean', const: false },
      value: object({ error: refTo('Problem') }, {}),
    },
    { description: 'An image of a batch that failed, where others did not.' },
  )
}

function envelope({ ok, action, ...rest }: Json, description: string): Json {
  const requestId = { type: 'string', format: 'uuid', description: 'Yours, or the generated one.' }
  const properties = { ok, requestId, action, ...rest, meta: refTo('Meta') }
  const required = ['ok', 'requestId', 'action', 'data', 'errors']
  return object(properties, { description, required, additionalProperties: false })
}

/** `svc.deleteSubject` → `DeleteSubject`. */
export function schemaName({ name }: Pick<Action, 'name'>): string {
  const bare = name.slice(name.indexOf('.') + 1)
  return bare.charAt(0).toUpperCase() + bare.slice(1)
}

export function refTo(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

export function object(properties: Json, more: Json): Json {
  return { type: 'object', properties, required: Object.keys(properties), ...more }
}

export function text(description: string): Json {
  return { type: 'string', description }
}
