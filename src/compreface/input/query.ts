import { z } from 'zod'
import { externalId, uuid } from '../../actions/schemas/fields.ts'
import type { HttpRequest } from '../../http/route.ts'
import { requireValid } from '../../lib/validation/describe-issue.ts'
import { boxProbabilityOf, type BoxProbability } from '../box-probability.ts'
import type { CompreFaceRequest } from '../serve-route.ts'

/**
 * The query parameters of CompreFace. Unknown parameters are ignored, as CompreFace does, except by the
 * routes that delete.
 */

/** The plugins that Facegate has. */
const supportedPlugins = ['age', 'gender', 'landmarks', 'pose'] as const

/** The names are returned in a header, so that they contain only these characters. */
const pluginName = z
  .string()
  .regex(/^[\w.-]{1,64}$/u, 'must be a list of plugin names, separated by commas')

/** Divides the plugins of a request: those that the response contains, and the names of the others. */
function splitPlugins(names: readonly string[]) {
  return {
    supported: supportedPlugins.filter((plugin) => names.includes(plugin)),
    unsupported: [...new Set(names).difference(new Set<string>(supportedPlugins))],
  }
}

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
    .transform((text) =>
      text
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    )
    .pipe(z.array(pluginName))
    .transform(splitPlugins),
  detect_faces: z
    .enum(['true', 'false'])
    .default('true')
    .refine((text) => text === 'true', {
      error: 'must be true or absent: Facegate detects the faces of every image',
    }),
  status: z.enum(['true', 'false']).default('false'),
})

export type ImageQuery = z.output<typeof imageQuery> & {
  /** The scale of `det_prob_threshold` and of the box probability. */
  readonly boxProbability: BoxProbability
}

/** Reads the parameters of a route with an image. @throws ActionError INVALID_REQUEST. */
export function readImageQuery({ request, options }: CompreFaceRequest): ImageQuery {
  return {
    ...readQuery(imageQuery, repairQuery(request)),
    boxProbability: boxProbabilityOf(options.detectorKind),
  }
}

export const subjectQuery = z.object({ subject: externalId })

const pageSizeMax = 1000

export const pageQuery = z.object({
  page: count.default(0),
  size: count.min(1).max(pageSizeMax).default(20),
  subject: externalId.optional(),
})

/** Reads the id of a face in the path. @throws ActionError INVALID_REQUEST. */
export function readImageId({ pathParams }: Pick<HttpRequest, 'pathParams'>): string {
  return requireValid(z.object({ image_id: uuid }), pathParams, 'path').image_id
}

/**
 * Reads the parameters of a schema. An empty parameter counts as absent.
 *
 * @throws ActionError INVALID_REQUEST with one problem per invalid parameter.
 */
export function readQuery<Query extends z.ZodType>(schema: Query, query: URLSearchParams) {
  const entries = [...query].filter(([, value]) => value !== '')
  return requireValid(schema, Object.fromEntries(entries), 'query')
}

/**
 * Reads the parameters of a route that deletes: all that are sent must be known and not empty, because
 * a mistyped one would delete more than intended.
 *
 * @throws ActionError INVALID_REQUEST.
 */
export function readExactQuery<Query extends z.ZodObject>(schema: Query, query: URLSearchParams) {
  return requireValid(schema, Object.fromEntries(query), 'query')
}

/** Refuses every parameter, for a route that deletes and has none. @throws ActionError INVALID_REQUEST. */
export function refuseParameters(query: URLSearchParams): undefined {
  readExactQuery(z.strictObject({}), query)
}

/**
 * Without a limit, the SDK writes a second question mark before the other options. It encodes neither
 * this question mark nor the equals sign, unlike a client that sends a name with these characters.
 */
export function repairQuery({ queryText }: Pick<HttpRequest, 'queryText'>): URLSearchParams {
  const misplacedOption =
    /\?(limit|det_prob_threshold|prediction_count|face_plugins|status|detect_faces)=/gu
  return new URLSearchParams(queryText.replaceAll(misplacedOption, '&$1='))
}

/** Whether plugins of a request need svc.analyze. Invalid names of plugins do not. */
export function requestsAnalysis(request: Pick<HttpRequest, 'queryText'>): boolean {
  const plugins = imageQuery.shape.face_plugins.safeParse(repairQuery(request).get('face_plugins'))
  return plugins.success && needsAnalysis({ face_plugins: plugins.data })
}

export function needsAnalysis({ face_plugins: plugins }: Pick<ImageQuery, 'face_plugins'>) {
  return plugins.supported.includes('age') || plugins.supported.includes('gender')
}
