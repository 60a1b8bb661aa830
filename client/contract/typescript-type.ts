/** A JSON Schema as zod generates it, with the keywords that the schemas of the service use. */
export type ContractSchema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly ContractSchema[]
  readonly oneOf?: readonly ContractSchema[]
  readonly properties?: Readonly<Record<string, ContractSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: ContractSchema | boolean
  readonly prefixItems?: readonly ContractSchema[]
  readonly items?: ContractSchema | boolean
  readonly description?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly maxLength?: number
}

/** Types of requests are readonly, so that frozen objects can be sent. Types of responses are mutable. */
export type PropertyAccess = 'readonly' | 'mutable'

/**
 * Returns the TypeScript type of a JSON Schema.
 *
 * @param depth the indentation level of its lines.
 * @throws TypeError for an unknown `type`.
 */
export function typescriptTypeOf(
  schema: ContractSchema,
  access: PropertyAccess,
  depth = 0,
): string {
  if (schema.$ref !== undefined) return refNameOf(schema.$ref)
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  const variants = schema.anyOf ?? schema.oneOf
  if (variants)
    return variants.map((variant) => typescriptTypeOf(variant, access, depth)).join(' | ')
  if (Array.isArray(schema.type))
    return schema.type
      .map((type: string) => typescriptTypeOf({ ...schema, type }, access, depth))
      .join(' | ')
  switch (schema.type) {
    case undefined:
      return 'unknown'
    case 'object':
      return objectTypeOf(schema, access, depth)
    case 'array':
      return arrayTypeOf(schema, access, depth)
    case 'integer':
      return 'number'
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return schema.type
    default:
      throw new TypeError(`cannot convert the schema ${JSON.stringify(schema)}`)
  }
}

/** Returns an object type: one field per line, each after its comment. */
export function objectTypeOf(schema: ContractSchema, access: PropertyAccess, depth = 0): string {
  const { properties, required = [], additionalProperties } = schema
  const modifier = access === 'readonly' ? 'readonly ' : ''
  if (!properties && typeof additionalProperties === 'object')
    return `{ ${modifier}[key: string]: ${typescriptTypeOf(additionalProperties, access, depth)} }`
  const indent = '  '.repeat(depth + 1)
  const lines = Object.entries(properties ?? {}).flatMap(([name, field]) => {
    const type = typescriptTypeOf(field, access, depth + 1)
    const isRequired = required.includes(name)
    const member = isRequired ? `${name}: ${type}` : `${name}?: ${type} | undefined`
    return [...commentOf(field), modifier + member].map((line) => indent + line)
  })
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`
}

function arrayTypeOf(schema: ContractSchema, access: PropertyAccess, depth: number): string {
  const { prefixItems, items } = schema
  const rest = typeof items === 'object' ? typescriptTypeOf(items, access, depth) : undefined
  const modifier = access === 'readonly' ? 'readonly ' : ''
  if (!prefixItems) return `${modifier}${parenthesize(rest ?? 'unknown')}[]`
  const fixed = prefixItems.map((item) => typescriptTypeOf(item, access, depth))
  const all = rest === undefined ? fixed : [...fixed, `...${parenthesize(rest)}[]`]
  return `${modifier}[${all.join(', ')}]`
}

const parenthesize = (type: string): string => (/^\w+$/u.test(type) ? type : `(${type})`)

function commentOf(schema: ContractSchema): string[] {
  const facts = factsOf(schema, JSON.stringify)
  return facts === '' ? [] : [`/** ${facts.replaceAll('*/', '*\\/')} */`]
}

/**
 * Returns what the type does not contain: description, range, default.
 *
 * @param write the form of a default in the language.
 */
export function factsOf(schema: ContractSchema, write: (value: unknown) => string): string {
  const { description, default: fallback, minimum, maximum } = schema
  const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
  const facts = [
    description,
    isBounded && `${minimum ?? ''}..${maximum}.`,
    schema.maxItems !== undefined && `At most ${schema.maxItems}.`,
    schema.maxLength !== undefined && `At most ${schema.maxLength} characters.`,
    fallback !== undefined && `Default ${write(fallback)}.`,
  ]
  return facts.filter((fact) => typeof fact === 'string').join(' ')
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}

/** `#/$defs/Face` → `Face`. */
function refNameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}
