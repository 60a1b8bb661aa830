import { formatAmount } from '../format/amount.ts'
import { shortIdOf } from '../format/subject-name.ts'

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu

/** Whether a text is an id, which is shown shortened. */
export function isId(text: string): boolean {
  return uuid.test(text)
}

/** The entries of a list that are shown; the CSV file contains all of them. */
const listItemsMax = 3

/** The names of projects by id. */
export type ProjectNames = ReadonlyMap<string, string>

const noNames: ProjectNames = new Map()

/** Returns a value of an audit entry as a short text. */
export function auditTextOf(value: unknown, names = noNames): string {
  if (typeof value === 'string') return textOfString(value, names)
  if (Array.isArray(value)) {
    const more = value.length - listItemsMax
    const shown = value.slice(0, listItemsMax).map((item) => auditTextOf(item, names))
    if (more > 0) return `${shown.join(' ')} and ${more} more`
    return shown.join(' ') || 'none'
  }
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value).map(([name, inner]) => partOf(name, inner, names))
    return parts.map(({ of, text }) => `${of} ${text}`).join(' ') || 'none'
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === null ? 'none' : JSON.stringify(value)
}

const utcTime = /^(?<day>\d{4}-\d\d-\d\d)T(?<minute>\d\d:\d\d):\d\d(?:\.\d+)?Z$/u

/** Returns a text without the technical form of ids and times. */
function textOfString(value: string, names: ProjectNames): string {
  if (value === '') return 'empty'
  if (value.startsWith('wallet:')) return 'wallet'
  const { day, minute } = utcTime.exec(value)?.groups ?? {}
  if (day !== undefined) return `${day} ${minute} UTC`
  return names.get(value) ?? (isId(value) ? shortIdOf(value) : value)
}

/** Returns the details of an entry as a short text, with amounts of money in the currency. */
export function auditDetailText(
  detail: Readonly<Record<string, unknown>>,
  currency: string,
  names = noNames,
): string {
  return Object.entries(detail)
    .map(([name, value]) => {
      const amount = /^(?<of>\w+)Micros$/u.exec(name)?.groups?.['of']
      if (amount !== undefined && typeof value === 'string')
        return `${wordsOf(amount)}: ${formatAmount(value)} ${currency}`
      const { of, text } = partOf(name, value, names)
      return `${of}: ${text}`
    })
    .join(', ')
}

function partOf(name: string, value: unknown, names: ProjectNames) {
  // The name of a project replaces its id.
  const isNamed = typeof value === 'string' && names.has(value)
  const of = wordsOf(name.replace(/AtUtc$/u, '').replace(isNamed ? /Id$/u : /$^/u, ''))
  return { of, text: auditTextOf(value, names) }
}

/** Returns `galleryMode` as `gallery mode`. */
function wordsOf(name: string): string {
  return name === 'osUser'
    ? 'operating system user'
    : name.replaceAll(/[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`)
}
