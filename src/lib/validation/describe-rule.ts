import { resolveNode, type RuleSchema } from './json-schema.ts'

/** Returns the rule of a field as the end of a sentence: `must be a whole number from 1 to 100`. */
export function describeRule(node: RuleSchema, root: RuleSchema): string {
  const kind = describeKind(node, root)
  return kind === undefined ? 'must have a valid value' : `must be ${kind}`
}

function describeKind(node: RuleSchema, root: RuleSchema): string | undefined {
  if (node.const !== undefined) return JSON.stringify(node.const)
  if (node.enum) return `one of ${node.enum.map((value) => JSON.stringify(value)).join(', ')}`
  if (node.anyOf) {
    const branches = node.anyOf.map((branch) => describeKind(resolveNode(branch, root), root))
    return branches.filter((branch) => branch !== undefined).join(' or ')
  }
  switch (node.type) {
    case 'string':
      return describeText(node)
    case 'integer':
      return `a whole number${rangeOf(node.minimum, node.maximum)}`
    case 'number':
      return `a number${rangeOf(node.minimum, node.maximum)}`
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    case 'array':
      return `a list${sizeOf(node.minItems, node.maxItems, 'items')}`
    case 'object':
      return describeObject(node)
    case undefined:
    default:
      return undefined
  }
}

function describeText({ format, minLength, maxLength }: RuleSchema): string {
  if (format === 'uuid') return 'a UUID, such as 0b9f1f9c-2e0e-4a7e-9d57-3c4b8a1d2e3f'
  if (format === 'date-time') return 'an ISO 8601 UTC time, such as 2030-01-31T00:00:00Z'
  return `text${sizeOf(minLength, maxLength, 'characters')}`
}

function describeObject({ properties, required = [] }: RuleSchema): string {
  const names = Object.keys(properties ?? {})
  if (names.length === 0) return 'an object'
  return required.length === 0 ? 'an object' : `an object with ${required.join(', ')}`
}

/** Limits beyond exact integers are those of the number format, not rules. */
function rangeOf(minimum: number | undefined, maximum: number | undefined): string {
  const [low, high] = [minimum, maximum].map((limit) =>
    limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? limit : undefined,
  )
  if (low !== undefined && high !== undefined) return ` from ${low} to ${high}`
  if (low !== undefined) return ` of at least ${low}`
  return high === undefined ? '' : ` of at most ${high}`
}

function sizeOf(minimum: number | undefined, maximum: number | undefined, unit: string): string {
  if (maximum !== undefined) return ` of ${minimum ?? 0} to ${maximum} ${unit}`
  return minimum === undefined ? '' : ` of at least ${minimum} ${unit}`
}

/**
 * Describes a value without repeating text, which can be personal data: its size if its type is correct,
 * else its type.
 */
export function describeValue(value: unknown, node: RuleSchema): string {
  const { type } = node
  if (Array.isArray(value)) return type === 'array' ? `${value.length} items` : 'a list'
  if (value === null) return 'null'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return 'an object'
  if (value === '') return 'empty text'
  if (node.enum || node.const !== undefined || node.format !== undefined) return 'other text'
  return type === 'string' ? `text of ${value.length} characters` : 'text'
}
