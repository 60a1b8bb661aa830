import { shortIdOf } from '../format/subject-name.ts'

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu

/** Whether a text is an id, which is shown shortened. */
export function isId(text: string): boolean {
  return uuid.test(text)
}

/** The entries of a list that are shown; the CSV file contains all of them. */
const listItemsMax = 3

/** Returns a value of an audit entry as a short text. */
export function auditTextOf(value: unknown): string {
  if (typeof value === 'string') return isId(value) ? shortIdOf(value) : value
  if (!Array.isArray(value)) return JSON.stringify(value)
  const more = value.length - listItemsMax
  const shown = value.slice(0, listItemsMax).map(auditTextOf).join(' ')
  return more > 0 ? `${shown} and ${more} more` : shown
}
