import { z } from 'zod'
import type { Action } from '../action.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema

/**
 * Converts a schema to JSON Schema with the object itself as the root. zod puts a named schema under
 * `$defs` and leaves a reference in its place.
 */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $ref, $defs, ...root } = z.toJSONSchema(schema, { io })
  const name = $ref?.split('/').at(-1)
  const named = name === undefined ? undefined : $defs?.[name]
  return { ...root, ...named, ...($defs && { $defs }) }
}

/** The fields of the parameters of an action as JSON Schema. */
export type ParamsSchema = {
  readonly properties: Readonly<Record<string, z.core.JSONSchema.JSONSchema>>
  readonly required: readonly string[]
}

export function toParamsSchema({ params }: Pick<Action, 'params'>): ParamsSchema {
  const { properties = {}, required = [] } = toJsonSchema(params, 'input')
  const fields = Object.entries(properties).map(([name, schema]) => [
    name,
    typeof schema === 'object' ? schema : {},
  ])
  return { properties: Object.fromEntries(fields), required }
}
