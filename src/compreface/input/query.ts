import { z } from 'zod'
import { externalId } from '../../actions/schemas/fields.ts'
import { ActionError } from '../../lib/errors.ts'

/** Parameters of CompreFace by their own names. What is not among them is passed over, as there. */

const plugins = ['age', 'gender', 'landmarks', 'pose'] as const

export type FacePlugin = (typeof plugins)[number]

const unsupportedPlugins: Readonly<Record<string, string>> = {
  calculator: 'calculator is not offered: templates never leave Facegate',
  mask: 'mask is not offered: there is no model of it',
}

const plugin = z.enum(plugins, {
  error: ({ input }) => unsupportedPlugins[String(input)] ?? `must be of ${plugins.join(', ')}`,
})

const count = z.coerce.number<string>().int().min(0).max(1_000_000)

/** What every route that looks at a picture takes. */
export const imageQuery = z.object({
  /** The most faces; 0: no limit but that of the action. */
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
 * Reads the parameters that a schema knows; empty ones count as absent.
 *
 * @throws ActionError INVALID_REQUEST that names every parameter that is wrong.
 */
export function readQuery<Query extends z.ZodType>(
  schema: Query,
  query: URLSearchParams,
): z.output<Query> {
  const given = [...repairQuery(query)].filter(([, value]) => value !== '')
  const result = schema.safeParse(Object.fromEntries(given))
  if (result.success) return result.data
  throw new ActionError(
    'INVALID_REQUEST',
    result.error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`),
  )
}

/** The SDK joins options with a second question mark where it sends no limit. */
function repairQuery(query: URLSearchParams): URLSearchParams {
  const options = /%3F(limit|det_prob_threshold|prediction_count|face_plugins|status)%3D/gu
  return new URLSearchParams(query.toString().replaceAll(options, '&$1='))
}
