import { formatAmount } from '../format/amount.ts'
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
  if (Array.isArray(value)) {
    const more = value.length - listItemsMax
    const shown = value.slice(0, listItemsMax).map(auditTextOf).join(' ')
    return more > 0 ? `${shown} and ${more} more` : shown
  }
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, inner]) => `${wordsOf(name)} ${auditTextOf(inner)}`)
      .join(' ')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === null ? 'none' : JSON.stringify(value)
}

/** Returns the details of an entry as a short text, with amounts of money in the currency. */
export function auditDetailText(
  detail: Readonly<Record<string, unknown>>,
  currency: string,
): string {
  return Object.entries(detail)
    .map(([name, value]) => {
      const amount = /^(?<of>\w+)Micros$/u.exec(name)?.groups?.['of']
      return amount !== undefined && typeof value === 'string'
        ? `${wordsOf(amount)}: ${formatAmount(value)} ${currency}`
        : `${wordsOf(name)}: ${auditTextOf(value)}`
    })
    .join(', ')
}

/** Returns `galleryMode` as `gallery mode`. */
function wordsOf(name: string): string {
  return name === 'osUser'
    ? 'operating system user'
    : name.replaceAll(/[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`)
}
