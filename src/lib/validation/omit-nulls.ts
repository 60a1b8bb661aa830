import { acceptsNull, childNode, resolveNode, type RuleSchema } from './json-schema.ts'

/**
 * Returns the input without the fields that are `null` although their schema has another type and does
 * not require them. Serializers of Java and C# write `null` for a field without a value.
 */
export function omitNulls(input: unknown, schema: RuleSchema): unknown {
  return hasNull(input) ? omitIn(input, resolveNode(schema, schema)) : input

  function omitIn(value: unknown, node: RuleSchema): unknown {
    if (Array.isArray(value))
      return value.map((item, index) => omitIn(item, childNode(node, index, schema)))
    if (typeof value !== 'object' || value === null || !node.properties) return value
    const fields = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
      const isKnown = Object.hasOwn(node.properties ?? {}, name)
      const child = isKnown ? childNode(node, name, schema) : {}
      const isOmitted =
        field === null && !node.required?.includes(name) && !acceptsNull(child, schema)
      return isOmitted ? [] : [[name, omitIn(field, child)]]
    })
    return Object.fromEntries(fields)
  }
}

/** Most inputs have none, and searching takes much less time than copying by the schema. */
function hasNull(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === null
  return Object.values(value).some(hasNull)
}
