import { z } from 'zod'
import type { Action } from './action.ts'

/**
 * The JSON Schema of the parameters of an action, as forms and tables read it: the object itself on
 * top, with its properties. Zod puts a schema that has an id under `$defs` and only points at it.
 */
export function paramsSchemaOf({ params }: Pick<Action, 'params'>): z.core.JSONSchema.BaseSchema {
  const { $ref, ...schema } = z.toJSONSchema(params, { io: 'input' })
  const name = $ref?.split('/').at(-1)
  const root = name === undefined ? undefined : schema.$defs?.[name]
  return typeof root === 'object' ? { ...schema, ...root } : schema
}
