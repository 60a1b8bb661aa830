import { z } from 'zod'
import { invalidRequest } from '../../lib/errors.ts'
import { listCountMax, type ListCount } from '../../lib/limits/list-limits.ts'
import { requireStorable } from '../input/parse-json.ts'
import texts from '../../actions/schemas/field-texts.json' with { type: 'json' }

/** Parameters of every list. */
export const limit = z.coerce
  .number<string>()
  .int()
  .min(1)
  .max(200)
  .default(50)
  .describe(texts.pagination.limit)

export const cursor = z.string().max(1024).optional().describe(texts.pagination.cursor)

export const nextCursor = z.string().nullable().describe(texts.pagination.nextCursor)

export const total = z.enum(['true', 'false']).default('false').describe(texts.pagination.total)

export const totalFields = {
  total: z
    .int()
    .min(0)
    .optional()
    .meta({
      description: `Only with total=true: the number of items on all pages. With conditions, and for deletions, at most ${listCountMax}.`,
    }),
  totalIsCapped: z.literal(true).optional().describe(texts.pagination.totalIsCapped),
}

/** Returns the fields of a response with the number of items. */
export function toTotal({ total, isCapped }: ListCount) {
  return { total, ...(isCapped && { totalIsCapped: true as const }) }
}

/** Times are stored with milliseconds and compared as text. */
export function toStoredTimestamp(text: string | undefined): string | undefined {
  return text === undefined ? undefined : new Date(text).toISOString()
}

/** Encodes the position at which a page ended. Items added later do not shift the next page. */
export function packCursor(position: z.core.util.JSONType): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** @throws ActionError INVALID_REQUEST when this service did not create the cursor. */
export function unpackCursor<Position extends z.ZodType>(
  text: string | undefined,
  position: Position,
): z.output<Position> | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    requireStorable(value, 'query.cursor')
    return position.parse(value)
  } catch (cause) {
    throw invalidRequest('query.cursor: must be a `nextCursor` of an earlier response', { cause })
  }
}

/** Cuts a list of up to `limit + 1` items to a page; the extra item shows that another page follows. */
export function cutPage<Item>(items: readonly Item[], limit: number) {
  const page = items.slice(0, limit)
  return { page, last: items.length > limit ? page.at(-1) : undefined }
}
