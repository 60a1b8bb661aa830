import type { z } from 'zod'
import { kindOf } from '../../src/http/kind-of.ts'
import { table } from './table.ts'

type FieldSchema = z.core.JSONSchema.JSONSchema

/** The fields of an object, in JSON Schema. */
export type Fields = {
  readonly properties?: Readonly<Record<string, FieldSchema | boolean>> | undefined
  readonly required?: readonly string[] | undefined
}

/** A table of fields; those that are required, or always there, are marked with `*`. */
export function fieldsTable({ properties = {}, required = [] }: Fields): string {
  const rows = Object.entries(properties).map(([name, is]) => {
    const field = typeof is === 'object' ? is : {}
    const mark = required.includes(name) ? String.raw` \*` : ''
    return [`\`${name}\`${mark}`, kindText(field), meaningOf(field)]
  })
  return table(['Field', 'Type', 'Meaning'], rows)
}

/** Shapes that have a name of their own stand at the end of the page. */
function kindText(field: FieldSchema): string {
  const kind = kindOf(field)
  const named = /^([A-Z]\w+)(?:\[\]| \| null)?$/u.exec(kind)?.[1]
  return named === undefined ? `\`${kind}\`` : `[\`${kind}\`](#${named.toLowerCase()})`
}

function meaningOf({ description, default: fallback, properties = {} }: FieldSchema): string {
  const parts = Object.entries(properties).flatMap(([name, part]) =>
    typeof part === 'object' && part.description ? [`\`${name}\`: ${part.description}`] : [],
  )
  const otherwise = fallback === undefined ? '' : `Default: \`${JSON.stringify(fallback)}\`.`
  return [description, ...parts, otherwise].filter(Boolean).join(' ')
}
