import type { z } from 'zod'
import { describeType } from '../../src/http/openapi/describe-type.ts'
import { markdownTable } from './markdown-table.ts'

type FieldJsonSchema = z.core.JSONSchema.JSONSchema

/** The fields of an object, in JSON Schema. */
export type ObjectFields = {
  readonly properties?: Readonly<Record<string, FieldJsonSchema | boolean>> | undefined
  readonly required?: readonly string[] | undefined
}

/** A table of fields; those that are required, or always there, are marked with `*`. */
export function fieldsTable({ properties = {}, required = [] }: ObjectFields): string {
  const rows = Object.entries(properties).map(([name, is]) => {
    const field = typeof is === 'object' ? is : {}
    const mark = required.includes(name) ? String.raw` \*` : ''
    return [`\`${name}\`${mark}`, typeText(field), fieldDescriptionOf(field)]
  })
  return markdownTable(['Field', 'Type', 'Meaning'], rows)
}

/** Shapes that have a name of their own stand at the end of the page. */
function typeText(field: FieldJsonSchema): string {
  const kind = describeType(field)
  const named = /^([A-Z]\w+)(?:\[\]| \| null)?$/u.exec(kind)?.[1]
  return named === undefined ? `\`${kind}\`` : `[\`${kind}\`](#${named.toLowerCase()})`
}

function fieldDescriptionOf({
  description,
  default: fallback,
  properties = {},
}: FieldJsonSchema): string {
  const parts = Object.entries(properties).flatMap(([name, part]) =>
    typeof part === 'object' && part.description ? [`\`${name}\`: ${part.description}`] : [],
  )
  const otherwise = fallback === undefined ? '' : `Default: \`${JSON.stringify(fallback)}\`.`
  return [description, ...parts, otherwise].filter(Boolean).join(' ')
}
