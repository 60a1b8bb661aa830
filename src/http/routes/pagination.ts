import { z } from 'zod'
import { ActionError } from '../../lib/errors.ts'

/** Parameters of every list. */
export const limit = z.coerce
  .number<string>()
  .int()
  .min(1)
  .max(200)
  .default(50)
  .meta({ description: 'The most items of a page.' })

export const cursor = z
  .string()
  .max(1024)
  .optional()
  .meta({ description: '`nextCursor` of the page before.' })

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: '`cursor` of the next page; null on the last.' })

export const utcTimestamp = z.iso.datetime({ error: 'must be an ISO 8601 UTC time that exists' })

/** Times are stored with milliseconds and compared as text. */
export function toStoredTimestamp(text: string | undefined): string | undefined {
  return text === undefined ? undefined : new Date(text).toISOString()
}

/** A cursor is the place where a page ended: whatever is added meanwhile shifts no page. */
export function packCursor(place: z.core.util.JSONType): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

/** @throws ActionError INVALID_REQUEST when this service did not make the cursor. */
export function unpackCursor<Place extends z.ZodType>(
  text: string | undefined,
  place: Place,
): z.output<Place> | undefined {
  if (text === undefined) return undefined
  try {
    return place.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch (cause) {
    throw new ActionError('INVALID_REQUEST', 'cursor: is not of this service', { cause })
  }
}

/** Whether there is a page after this one is seen by asking for one item more. */
export function cutPage<Item>(items: readonly Item[], limit: number) {
  const page = items.slice(0, limit)
  return { page, last: items.length > limit ? page.at(-1) : undefined }
}
