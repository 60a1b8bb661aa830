/** A form field for one parameter of an action. */
export type FormField = {
  readonly name: string
  readonly isRequired: boolean
  readonly description: string
  readonly defaultValue: unknown
  readonly kind: FormFieldKind
}

type FormFieldKind =
  | {
      readonly type: 'number'
      readonly isInteger: boolean
      readonly min?: number
      readonly max?: number
    }
  | { readonly type: 'switch' }
  | { readonly type: 'choice' | 'choices'; readonly options: readonly string[] }
  | { readonly type: 'texts' }
  | { readonly type: 'json' }
  | { readonly type: 'text'; readonly variants?: string }

type FormSchema = {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, FormSchema>>
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, FormSchema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: FormSchema
  readonly anyOf?: readonly FormSchema[]
  readonly oneOf?: readonly FormSchema[]
}

/** The fields of svc.identify that replace its images. Values are often left from another action. */
const storedFaceFields = new Set(['subjectId', 'externalId', 'faceId'])

/** Returns the fields that can be used with this number of images. */
export function usableFields(
  action: string,
  fields: readonly FormField[],
  imageCount: number,
): readonly FormField[] {
  if (action !== 'svc.identify' || imageCount === 0) return fields
  return fields.filter(({ name }) => !storedFaceFields.has(name))
}

/** Returns the form fields of an action. Images are excluded: they have a separate control. */
export function formFieldsOf(paramsSchema: unknown): FormField[] {
  // The server generates this JSON schema from its validation schema: an object with properties.
  const root = paramsSchema as FormSchema
  const required = root.required ?? []
  return Object.entries(root.properties ?? {})
    .filter(([name]) => name !== 'images')
    .map(([name, schema]) => {
      const plain = resolveRef(schema, root)
      return {
        name,
        isRequired: required.includes(name) && plain.default === undefined,
        description: schema.description ?? plain.description ?? '',
        defaultValue: schema.default ?? plain.default,
        kind: fieldKindOf(plain, root),
      }
    })
}

function resolveRef(schema: FormSchema, root: FormSchema): FormSchema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : { ...root.$defs?.[name], ...schema }
}

function fieldKindOf(schema: FormSchema, root: FormSchema): FormFieldKind {
  const variants = (schema.anyOf ?? schema.oneOf ?? [])
    .map((variant) => resolveRef(variant, root))
    .filter(({ type }) => type !== 'null')
  const [only, second] = variants
  // Several variants, such as a number or `auto`, share one text field. parseParams parses its text.
  if (only)
    return second ? { type: 'text', variants: variantsText(variants) } : fieldKindOf(only, root)
  if (schema.enum) return { type: 'choice', options: schema.enum.map(String) }
  if (schema.type === 'boolean') return { type: 'switch' }
  if (schema.type === 'number' || schema.type === 'integer') return numberKindOf(schema)
  if (schema.type === 'array') return listKindOf(resolveRef(schema.items ?? {}, root))
  return { type: schema.type === 'object' ? 'json' : 'text' }
}

/** Returns a text such as `number or auto`. */
function variantsText(variants: readonly FormSchema[]): string {
  return variants
    .map(({ const: literal, type }) => (typeof literal === 'string' ? literal : String(type)))
    .join(' or ')
}

function numberKindOf({ type, minimum, maximum }: FormSchema): FormFieldKind {
  return {
    type: 'number',
    isInteger: type === 'integer',
    ...boundEntryOf('min', minimum),
    ...boundEntryOf('max', maximum),
  }
}

/** Bounds at the limits of JavaScript integers are omitted: they do not limit the parameter. */
function boundEntryOf(
  name: 'min' | 'max',
  value: number | undefined,
): { min?: number; max?: number } {
  return value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? {} : { [name]: value }
}

function listKindOf(items: FormSchema): FormFieldKind {
  if (items.enum) return { type: 'choices', options: items.enum.map(String) }
  return { type: items.type === 'string' ? 'texts' : 'json' }
}
