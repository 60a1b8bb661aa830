import { dayMs, hourMs, parseUtc } from '../../lib/clock.ts'
import { UsageError, type ValueKind } from '../command.ts'

/** The end of validity of a key; null: none. */
export type KeyExpiry = { readonly atUtc: string | null }

const unitsMs: Readonly<Record<string, number>> = {
  h: hourMs,
  d: dayMs,
  w: 7 * dayMs,
  y: 365 * dayMs,
}

/** A duration from now, a date or time that lies in the future, or `never`. */
export const keyExpiry: ValueKind<KeyExpiry> = {
  rule: 'a duration such as 12h, 90d, 4w or 1y, a date or time in ISO 8601, or never',
  parse: (text) => {
    if (text === 'never') return { atUtc: null }
    const now = Date.now()
    const [, amount, unit = ''] = /^([1-9]\d{0,3})([hdwy])$/u.exec(text) ?? []
    if (amount !== undefined)
      return { atUtc: new Date(now + Number(amount) * (unitsMs[unit] ?? 0)).toISOString() }
    if (!/^\d{4}-/u.test(text)) return undefined
    const expires = parseUtc(text)
    if (expires === undefined) return undefined
    if (expires.getTime() <= now) throw new UsageError(`${text} is in the past`)
    return { atUtc: expires.toISOString() }
  },
}
