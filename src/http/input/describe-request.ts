import type { Action } from '../../actions/action.ts'
import { toJsonSchema } from '../../actions/schemas/params-schema.ts'
import type { RequestDescription } from '../../gate/call-states.ts'
import { resolveNode, type RuleSchema } from '../../lib/validation/json-schema.ts'
import { envelopeFields } from './parse-call-body.ts'

/**
 * Describes a call for the request log: its options, the names of the API and the texts that messages
 * must not contain. It never contains an image, a name or an id.
 *
 * @param body the parsed request body; it may be invalid.
 * @param action undefined if the request names none.
 */
export function describeRequest(body: unknown, action: Action | undefined): RequestDescription {
  const schema = action ? toJsonSchema(action.params, 'input') : {}
  const words = new Set([...envelopeFields, ...wordsOf(schema)])
  const { params, ...envelope } = Object(body) as Readonly<Record<string, unknown>>
  const options = optionsOf(schema, params)
  // The number of an option may be in a message; any other number can be personal.
  const numbers = Object.values(options).filter((option) => typeof option === 'number')
  const shown = new Set(numbers.map(String))
  return {
    names: words,
    texts: textsOf(body, words).filter((text) => !shown.has(text)),
    parameters: {
      ...options,
      ...(envelope['debug'] === true && { debug: true }),
      ...(envelope['validateOnly'] === true && { validateOnly: true }),
    },
  }
}

/** Describes a request without an action: its values are texts that messages must not contain. */
export function describeFields(names: readonly string[], ...values: readonly unknown[]) {
  const words = new Set(names)
  return { names: words, texts: values.flatMap((value) => textsOf(value, words)), parameters: {} }
}

/** The names of properties and the values of enumerations of a schema. */
function wordsOf(schema: RuleSchema): Set<string> {
  const words = new Set<string>()
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { properties, enum: values = [], const: literal } = node as RuleSchema
    for (const name of Object.keys(properties ?? {})) words.add(name)
    for (const value of [...values, literal]) if (typeof value === 'string') words.add(value)
    for (const [name, inner] of Object.entries(node)) if (name !== 'default') visit(inner)
  }
  visit(schema)
  return words
}

/** Smaller numbers identify no person, and are part of many messages. */
const personalNumberMin = 100

/** The texts, the numbers and the names of fields in a value that are not words of the schema. */
function textsOf(value: unknown, words: ReadonlySet<string>): string[] {
  // A message contains a number of a query in its usual spelling.
  if (typeof value === 'string') return words.has(value) ? [] : [value, `${Number(value) || value}`]
  if (typeof value === 'number') return Math.abs(value) < personalNumberMin ? [] : [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(Array.isArray(value) || words.has(name) ? [] : nameVariants(name)),
    ...textsOf(inner, words),
  ])
}

/** The characters of an unknown name in a message. */
const nameCharsMax = 64

function nameVariants(name: string): string[] {
  const shown = name.slice(0, nameCharsMax)
  // A JSON path quotes a name that is no identifier.
  return [...new Set([name, shown, JSON.stringify(shown).slice(1, -1)])]
}

/** Returns the options of a call. Of any other parameter, only its presence or its count. */
function optionsOf(schema: RuleSchema, params: unknown): RequestDescription['parameters'] {
  if (typeof params !== 'object' || params === null) return {}
  const sent = new Map(Object.entries(params))
  const options = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const value = sent.get(name)
    if (value === undefined || value === null) return []
    return [[name, optionOf(resolveNode(property, schema), value, schema)] as const]
  })
  return Object.fromEntries(options)
}

function optionOf(node: RuleSchema, value: unknown, root: RuleSchema) {
  const branches = [node, ...(node.anyOf ?? [])].map((branch) => resolveNode(branch, root))
  if (Array.isArray(value)) {
    const items = branches.map(({ items }) => resolveNode(items, root)).find((item) => item.enum)
    const isOption = (item: unknown): item is string =>
      typeof item === 'string' && items?.enum?.includes(item) === true
    // Each option once, so that the stored text is short.
    if (items) return [...new Set(value.filter(isOption))]
    return `${value.length} ${value.length === 1 ? 'item' : 'items'}`
  }
  const isOption = branches.some(({ type, enum: values = [], const: literal }) => {
    if (typeof value === 'number') return type === 'number' || type === 'integer'
    if (typeof value === 'boolean') return type === 'boolean'
    return typeof value === 'string' && [...values, literal].includes(value)
  })
  return isOption ? (value as number | boolean | string) : 'set'
}
