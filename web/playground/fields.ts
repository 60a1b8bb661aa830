/** A parameter of an action as its form shows it. */
export type Field = {
  readonly name: string
  readonly isRequired: boolean
  readonly description: string
  readonly fallback: unknown
  readonly kind: Kind
}

type Kind =
  | {
      readonly is: 'number'
      readonly isWhole: boolean
      readonly min?: number
      readonly max?: number
    }
  | { readonly is: 'switch' }
  | { readonly is: 'choice' | 'choices'; readonly options: readonly string[] }
  | { readonly is: 'texts' }
  | { readonly is: 'json' }
  | { readonly is: 'text'; readonly forms?: string }

type Schema = {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/** The fields of an action's parameters but for its images, which the page asks for by itself. */
export function fieldsOf(paramsSchema: unknown): Field[] {
  // The schema is made by the server of the one that validates: an object with properties.
  const root = paramsSchema as Schema
  const required = root.required ?? []
  return Object.entries(root.properties ?? {})
    .filter(([name]) => name !== 'images')
    .map(([name, schema]) => {
      const plain = resolve(schema, root)
      return {
        name,
        isRequired: required.includes(name) && plain.default === undefined,
        description: schema.description ?? plain.description ?? '',
        fallback: schema.default ?? plain.default,
        kind: kindOf(plain, root),
      }
    })
}

function resolve(schema: Schema, root: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : { ...root.$defs?.[name], ...schema }
}

function kindOf(schema: Schema, root: Schema): Kind {
  const variants = (schema.anyOf ?? schema.oneOf ?? [])
    .map((variant) => resolve(variant, root))
    .filter(({ type }) => type !== 'null')
  const [only, second] = variants
  // Several forms, such as a number or `auto`: a text, read as the form that it has.
  if (only) return second ? { is: 'text', forms: formsOf(variants) } : kindOf(only, root)
  if (schema.enum) return { is: 'choice', options: schema.enum.map(String) }
  if (schema.type === 'boolean') return { is: 'switch' }
  if (schema.type === 'number' || schema.type === 'integer') return numberOf(schema)
  if (schema.type === 'array') return listOf(resolve(schema.items ?? {}, root))
  return { is: schema.type === 'object' ? 'json' : 'text' }
}

/** `number or auto` */
function formsOf(variants: readonly Schema[]): string {
  return variants
    .map(({ const: word, type }) => (typeof word === 'string' ? word : String(type)))
    .join(' or ')
}

function numberOf({ type, minimum, maximum }: Schema): Kind {
  return {
    is: 'number',
    isWhole: type === 'integer',
    ...boundOf('min', minimum),
    ...boundOf('max', maximum),
  }
}

/** The bounds of JavaScript's whole numbers are no bounds of the parameter. */
function boundOf(name: 'min' | 'max', value: number | undefined): { min?: number; max?: number } {
  return value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? {} : { [name]: value }
}

function listOf(items: Schema): Kind {
  if (items.enum) return { is: 'choices', options: items.enum.map(String) }
  return { is: items.type === 'string' ? 'texts' : 'json' }
}
