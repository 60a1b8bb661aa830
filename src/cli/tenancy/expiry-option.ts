import { defaultKeyExpiry } from '../../lib/limits/key-limits.ts'
import { UsageError } from '../command.ts'
import { parseTimeOption } from '../options.ts'

const hourMs = 3_600_000
const unitsMs: Readonly<Record<string, number>> = {
  h: hourMs,
  d: 24 * hourMs,
  w: 7 * 24 * hourMs,
  y: 365 * 24 * hourMs,
}

/**
 * Returns the expiry of a new key: after a duration such as `90d`, at a date, or null for `never`.
 * Without the option, the key expires after the default lifetime.
 *
 * @throws UsageError for other text, and for a time in the past.
 */
export function parseExpiryOption(value: string | undefined, now: Date): string | null {
  if (value === undefined) return defaultKeyExpiry(now)
  if (value === 'never') return null
  const [, amount, unit = ''] = /^([1-9]\d{0,3})([hdwy])$/u.exec(value) ?? []
  if (amount !== undefined)
    return new Date(now.getTime() + Number(amount) * (unitsMs[unit] ?? 0)).toISOString()
  if (!/^\d{4}-/u.test(value))
    throw new UsageError(
      `--expires must be a duration such as 12h, 90d, 4w or 1y, an ISO 8601 date, or never, not ${value}`,
    )
  const expires = parseTimeOption('--expires', value)
  if (expires <= now) throw new UsageError(`--expires ${value} is in the past`)
  return expires.toISOString()
}
