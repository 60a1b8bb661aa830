import { z } from 'zod'
import type { Action } from './action.ts'

/** The fields of an action's parameters as they are sent, in JSON Schema. */
export type ParamsSchema = {
  readonly properties: Readonly<Record<string, z.core.JSONSchema.JSONSchema>>
  readonly required: readonly string[]
}

/** Parameters that have a name are described beside their schema; here they are looked up. */
export function paramsOf({ params }: Pick<Action, 'params'>): ParamsSchema {
  const schema = z.toJSONSchema(params, { io: 'input' })
  const name = schema.$ref?.slice('#/$defs/'.length) ?? ''
  const { properties = {}, required = [] } = schema.$defs?.[name] ?? schema
  const fields = Object.entries(properties).map(([field, is]) => [
    field,
    typeof is === 'object' ? is : {},
  ])
  return { properties: Object.fromEntries(fields), required }
}
