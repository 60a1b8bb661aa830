import { z } from 'zod'

/** Schema parts that several pages share. */

/** Millionths of the currency as a decimal integer in text: a JSON number would be rounded. */
export const micros = z.string().regex(/^-?\d{1,18}$/u, 'must be a whole number of millionths')

export const id = z.guid('must be a UUID')

export const utcTime = z.iso
  .datetime({ error: 'must be an ISO 8601 UTC time that exists' })
  .transform((text) => new Date(text))

export const name = z
  .string()
  .trim()
  .min(1)
  .max(128)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]*$/u, 'must not contain control characters')

/** The time step of a chart, UTC. */
export const bucket = z.enum(['hour', 'day'])

/** `fromUtc` is included, `toUtc` is excluded. */
export const timeRange = { fromUtc: utcTime.optional(), toUtc: utcTime.optional() }

export const count = z.int().min(0)
