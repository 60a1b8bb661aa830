import { z } from 'zod'

type JsonSchema = z.core.JSONSchema.BaseSchema

/**
 * A schema as JSON Schema whose root is the object itself: zod puts a schema that has a name under
 * `$defs`, and leaves a reference to it in its place.
 */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $ref, $defs, ...root } = z.toJSONSchema(schema, { io })
  const name = $ref?.split('/').at(-1)
  const named = name === undefined ? undefined : $defs?.[name]
  return { ...root, ...named, ...($defs && { $defs }) }
}
