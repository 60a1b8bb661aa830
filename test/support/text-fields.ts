import { z } from 'zod'

type SchemaNode = {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, SchemaNode>>
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly additionalProperties?: SchemaNode | boolean
  readonly items?: SchemaNode | boolean
  readonly prefixItems?: readonly SchemaNode[]
  readonly anyOf?: readonly SchemaNode[]
  readonly oneOf?: readonly SchemaNode[]
  readonly allOf?: readonly SchemaNode[]
}

/** The location of a text in a value: names of fields, and 0 for an element of a list. */
export type TextPath = readonly (string | 0)[]

/** Lists the locations of all texts that a schema of the API accepts, also within lists and records. */
export function textPaths(schema: z.ZodType): readonly TextPath[] {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as SchemaNode
  return pathsOf(root, root.$defs ?? {})
}

function pathsOf(
  given: SchemaNode,
  definitions: Readonly<Record<string, SchemaNode>>,
): readonly TextPath[] {
  const node = definitions[given.$ref?.split('/').at(-1) ?? ''] ?? given
  const { properties = {}, items, prefixItems = [], additionalProperties } = node
  const below = (name: string | 0, inner: SchemaNode): TextPath[] =>
    pathsOf(inner, definitions).map((path) => [name, ...path])
  const variants = [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])]
  const [element] = [...prefixItems, ...(typeof items === 'object' ? [items] : [])]
  const paths = [
    ...([node.type].flat().includes('string') ? [[]] : []),
    ...variants.flatMap((variant) => pathsOf(variant, definitions)),
    ...Object.entries(properties).flatMap(([name, inner]) => below(name, inner)),
    ...(element ? below(0, element) : []),
    ...(additionalProperties !== undefined && additionalProperties !== false ? [['anyName']] : []),
  ]
  const distinct = new Map(paths.map((path) => [JSON.stringify(path), path]))
  return [...distinct.values()]
}

/** Returns a value that has only this text, at its location. */
export function valueWithText([name, ...rest]: TextPath, text: string): unknown {
  if (name === undefined) return text
  const inner = valueWithText(rest, text)
  return name === 0 ? [inner] : { [name]: inner }
}
