import { ActionError } from '../../lib/errors.ts'
import type { HttpRequest } from '../route.ts'

/** The characters of a name in a message. */
const nameCharsMax = 64

/**
 * Finds texts and numbers that a request can contain and a database cannot store: NUL, half surrogate
 * pairs, and numbers beyond the largest double. PostgreSQL rejects NUL, and both engines would store
 * another character than half a surrogate pair. Every text of a request is checked by this function.
 *
 * @param path the location of the value, for the messages.
 * @returns one message per problem.
 */
export function findUnstorable(value: unknown, path: string): string[] {
  return isStorable(value) ? [] : describeUnstorable(value, path)
}

/** The same check without the texts for messages, which valid values do not need. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed()
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorable(inner))
}

function describeUnstorable(value: unknown, path: string): string[] {
  if (typeof value === 'string') {
    if (value.includes('\0')) return [`${path}: must not contain NUL`]
    return value.isWellFormed() ? [] : [`${path}: must not contain half a surrogate pair`]
  }
  if (typeof value === 'number')
    return Number.isFinite(value) ? [] : [`${path}: must be a finite number`]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = toStorable(key, nameCharsMax)
    return [
      ...describeUnstorable(key, `${path} (a key)`),
      ...describeUnstorable(inner, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`),
    ]
  })
}

/** @throws ActionError INVALID_REQUEST with one problem per text or number that cannot be stored. */
export function requireStorable(value: unknown, path: string): void {
  const problems = findUnstorable(value, path)
  if (problems.length > 0) throw new ActionError('INVALID_REQUEST', problems)
}

/**
 * Checks the query and the path of a request. Every route with a key or a session calls it, after it
 * has authenticated the request and before it parses a parameter.
 *
 * @throws ActionError INVALID_REQUEST with one problem per text that a database cannot store.
 */
export function requireStorableParameters({
  query,
  pathParams,
}: Pick<HttpRequest, 'query' | 'pathParams'>): void {
  // A loop, because an object would keep only the last value of a repeated parameter.
  for (const [name, value] of query) requireStorable({ [name]: value }, 'query')
  requireStorable(pathParams, 'path')
}

/** Returns text of at most `charsMax` UTF-16 units, with U+FFFD for what a database cannot store. */
export function toStorable(text: string, charsMax: number): string {
  return text.slice(0, charsMax).toWellFormed().replaceAll('\0', '\uFFFD')
}
