import type { z } from 'zod'

type FieldSchema = z.core.JSONSchema.JSONSchema

/** Describes the type of a field for readers: its values, its range, or the type of its items. */
export function describeType(field: FieldSchema): string {
  const { type, enum: values, items, prefixItems, anyOf, $ref, properties } = field
  if ('const' in field) return JSON.stringify(field.const)
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (anyOf) return anyOf.map(describeItemType).join(' | ')
  if ($ref) return $ref.slice($ref.lastIndexOf('/') + 1)
  if (type === 'array') {
    const item = describeItemType(prefixItems?.[0] ?? items)
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`
  }
  if (properties) return `{ ${Object.keys(properties).join(', ')} }`
  return [[type ?? 'any'].flat().join(' | '), describeRange(field)].filter(Boolean).join(' ')
}

/** zod limits every integer to the safe range of numbers; such limits are omitted. */
function describeRange({ minimum, maximum }: FieldSchema): string {
  if (minimum === undefined || minimum === Number.MIN_SAFE_INTEGER) return ''
  return `${minimum}..${maximum === Number.MAX_SAFE_INTEGER ? '' : (maximum ?? '')}`
}

function describeItemType(part: FieldSchema['items']): string {
  return typeof part === 'object' && !Array.isArray(part) ? describeType(part) : 'any'
}
