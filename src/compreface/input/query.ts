import { z } from 'zod'
import { externalId } from '../../actions/schemas/fields.ts'
import { ActionError } from '../../lib/errors.ts'
import { toMessage } from '../../lib/validation/describe-issue.ts'
import { parseInput } from '../../lib/validation/parse-input.ts'

/** The query parameters of CompreFace. Unknown parameters are ignored, as CompreFace does. */

const plugins = ['age', 'gender', 'landmarks', 'pose'] as const

export type FacePlugin = (typeof plugins)[number]

const unsupportedPlugins: Readonly<Record<string, string>> = {
  calculator: 'must not contain calculator: Facegate never returns templates',
  mask: 'must not contain mask: there is no model for it',
}

const plugin = z.enum(plugins, {
  error: ({ input }) => unsupportedPlugins[String(input)] ?? `must be one of ${plugins.join(', ')}`,
})

const count = z.coerce.number<string>().int().min(0).max(1_000_000)

/** The parameters of every route with an image. */
export const imageQuery = z.object({
  /** The most faces; 0: the limit of the action. */
  limit: count.default(0),
  det_prob_threshold: z.coerce.number<string>().min(0).max(1).optional(),
  prediction_count: count.max(100).default(1),
  face_plugins: z
    .string()
    .max(256)
    .default('')
    .transform((text) => text.split(',').filter((name) => name.trim() !== ''))
    .pipe(z.array(z.string().trim().pipe(plugin))),
  status: z.enum(['true', 'false']).default('false'),
})

export type ImageQuery = z.output<typeof imageQuery>

export const subjectQuery = z.object({ subject: externalId })

const pageSizeMax = 1000

export const pageQuery = z.object({
  page: count.default(0),
  size: count.min(1).max(pageSizeMax).default(20),
  subject: externalId.optional(),
})

/**
 * Reads the parameters of a schema. An empty parameter counts as absent.
 *
 * @throws ActionError INVALID_REQUEST with one problem per invalid parameter.
 */
export function readQuery<Query extends z.ZodType>(
  schema: Query,
  query: URLSearchParams,
): z.output<Query> {
  const entries = [...repairQuery(query)].filter(([, value]) => value !== '')
  const result = parseInput(schema, Object.fromEntries(entries), 'query')
  if (result.success) return result.data
  throw new ActionError('INVALID_REQUEST', result.problems.map(toMessage))
}

/** Without a limit, the SDK writes a second question mark before the other options. */
function repairQuery(query: URLSearchParams): URLSearchParams {
  const misplacedOption = /%3F(limit|det_prob_threshold|prediction_count|face_plugins|status)%3D/gu
  return new URLSearchParams(query.toString().replaceAll(misplacedOption, '&$1='))
}
