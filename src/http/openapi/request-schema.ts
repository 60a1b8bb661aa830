import { mapValues } from '../../lib/map-values.ts'

type SchemaKeywords = { readonly [keyword: string]: unknown }

/**
 * Converts the JSON Schema of a request to keywords that generators of clients read as it is meant.
 *
 * - A list whose first item has the same schema as the others has `items` and `minItems`: generators
 *   do not support `prefixItems`, or create a type that no list matches.
 * - A default is part of the description: generators treat a field with `default` as required, also in
 *   requests, where it can be omitted.
 */
export function toRequestSchema(schema: SchemaKeywords): SchemaKeywords {
  return convert(schema) as SchemaKeywords
}

/**
 * Converts the JSON Schema of a response, so that clients accept what a later version adds: fields, and
 * codes in lists, such as `reasons`.
 */
export function toResponseSchema(schema: SchemaKeywords): SchemaKeywords {
  return JSON.parse(JSON.stringify(schema), (keyword, value: unknown) => {
    if (keyword === 'additionalProperties' && value === false) return undefined
    return keyword === 'items' && isObject(value) && value['enum'] ? openCodes(value) : value
  }) as SchemaKeywords
}

/** Returns the schema of a code that can be one of a later version. */
export function openCodes(schema: SchemaKeywords): SchemaKeywords {
  return { anyOf: [schema, { type: 'string', description: 'A code of a later version.' }] }
}

function convert(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(convert)
  if (!isObject(node)) return node
  const { properties, ...keywords } = node
  const described = withDescribedDefault(withoutPrefixItems(keywords))
  const converted = mapValues(described, (value, name) =>
    // The values of these keywords are data.
    ['const', 'enum', 'examples'].includes(name) ? value : convert(value),
  )
  // The keys of `properties` are names of fields, not keywords.
  return isObject(properties)
    ? { ...converted, properties: mapValues(properties, convert) }
    : converted
}

function withoutPrefixItems(schema: SchemaKeywords): SchemaKeywords {
  const { prefixItems, ...rest } = schema
  if (!Array.isArray(prefixItems)) return schema
  const isSame = prefixItems.every((item) => JSON.stringify(item) === JSON.stringify(rest['items']))
  if (!isSame) throw new Error('a list of a request has items of different schemas')
  return { ...rest, minItems: prefixItems.length }
}

function withDescribedDefault(schema: SchemaKeywords): SchemaKeywords {
  const { default: value, description, ...rest } = schema
  if (value === undefined) return schema
  const text = `Default: \`${JSON.stringify(value)}\`.`
  return { ...rest, description: typeof description === 'string' ? `${description} ${text}` : text }
}

function isObject(value: unknown): value is SchemaKeywords {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
