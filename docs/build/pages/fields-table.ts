import type { z } from 'zod'
import { describeType } from './describe-type.ts'
import { markdownTable } from './markdown-table.ts'

type FieldJsonSchema = z.core.JSONSchema.JSONSchema

/** The fields of an object in JSON Schema. */
export type ObjectFields = {
  readonly properties?: Readonly<Record<string, FieldJsonSchema | boolean>> | undefined
  readonly required?: readonly string[] | undefined
}

/** Returns a table of fields. Required fields, and fields that are always present, have a `*`. */
export function fieldsTable({ properties = {}, required = [] }: ObjectFields): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const field = typeof schema === 'object' ? schema : {}
    const mark = required.includes(name) ? String.raw` \*` : ''
    return [`\`${name}\`${mark}`, typeText(field), fieldDescriptionOf(field)]
  })
  return markdownTable(['Field', 'Type', 'Meaning'], rows)
}

/** Named types link to their section at the end of the page. */
function typeText(field: FieldJsonSchema): string {
  const type = describeType(field)
  const named = /^([A-Z]\w+)(?:\[\]| \| null)?$/u.exec(type)?.[1]
  return named === undefined ? `\`${type}\`` : `[\`${type}\`](#${named.toLowerCase()})`
}

function fieldDescriptionOf({
  description,
  default: defaultValue,
  properties = {},
}: FieldJsonSchema): string {
  const parts = Object.entries(properties).flatMap(([name, property]) =>
    typeof property === 'object' && property.description
      ? [`\`${name}\`: ${property.description}`]
      : [],
  )
  const defaultText =
    defaultValue === undefined ? '' : `Default: \`${JSON.stringify(defaultValue)}\`.`
  return [description, ...parts, defaultText].filter(Boolean).join(' ')
}
