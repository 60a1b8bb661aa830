import type { z } from 'zod'

/** A node of a JSON Schema that zod created. */
export type RuleSchema = z.core.JSONSchema.BaseSchema

/** A schema with the definitions that its references name. */
type SchemaRoot = { readonly $defs?: Readonly<Record<string, unknown>> | undefined }

/** Returns the definition that a node refers to, or the node itself. */
export function resolveNode(node: unknown, root: SchemaRoot): RuleSchema {
  if (typeof node !== 'object' || node === null) return {}
  const schema = node as RuleSchema
  const name = schema.$ref?.split('/').at(-1)
  const definition = name === undefined ? undefined : root.$defs?.[name]
  if (definition === undefined) return schema
  const { $ref: _reference, ...own } = schema
  return { ...resolveNode(definition, root), ...own }
}

/** Returns the schema of a field or of an item; an empty schema if there is none. */
export function childNode(parent: RuleSchema, step: PropertyKey, root: SchemaRoot): RuleSchema {
  for (const branch of [parent, ...(parent.anyOf ?? [])]) {
    const node = resolveNode(branch, root)
    const child =
      typeof step === 'number'
        ? (node.prefixItems?.[step] ?? node.items)
        : (node.properties?.[String(step)] ?? node.additionalProperties)
    if (typeof child === 'object') return resolveNode(child, root)
  }
  return {}
}

export function acceptsNull(node: RuleSchema, root: SchemaRoot): boolean {
  if (node.type === undefined && node.const === undefined && !node.anyOf && !node.enum) return true
  if (node.type === 'null' || node.const === null) return true
  return (node.anyOf ?? []).some((branch) => acceptsNull(resolveNode(branch, root), root))
}
