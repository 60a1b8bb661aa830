import type { z } from 'zod'
import type { Action } from '../action.ts'
import { toJsonSchema } from './json-schema.ts'

/** The fields of an action's parameters as they are sent, in JSON Schema. */
export type ParamsSchema = {
  readonly properties: Readonly<Record<string, z.core.JSONSchema.JSONSchema>>
  readonly required: readonly string[]
}

export function toParamsSchema({ params }: Pick<Action, 'params'>): ParamsSchema {
  const { properties = {}, required = [] } = toJsonSchema(params, 'input')
  const fields = Object.entries(properties).map(([field, is]) => [
    field,
    typeof is === 'object' ? is : {},
  ])
  return { properties: Object.fromEntries(fields), required }
}
