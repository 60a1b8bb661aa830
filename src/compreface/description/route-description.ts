import type { OpenApiObject } from '../../http/openapi/openapi-schemas.ts'

/** What the OpenAPI document contains about a route, beside its method, path and status. */
export type RouteDescription = {
  readonly operationId: string
  readonly summary: string
  /** The key needs all of them. */
  readonly permissions: readonly string[]
  /** The permissions of calls with other parameters, as a sentence. */
  readonly furtherPermissions?: string
  /** Price units without plugins. */
  readonly units?: number
  readonly query?: readonly OpenApiObject[] | undefined
  /** The names of the images in the body. */
  readonly images?: readonly string[]
  /** The schema of the JSON body. */
  readonly body?: OpenApiObject | undefined
  /** The name of the schema of the response, without its prefix. */
  readonly response: string
}

/** Describes a parameter of the query. */
export const parameter = (
  name: string,
  schema: OpenApiObject,
  description: string,
  required = false,
): OpenApiObject => ({ name, in: 'query', required, description, schema })

const limit = parameter(
  'limit',
  { type: 'integer', minimum: 0, maximum: 1_000_000 },
  'The most faces, largest first. Default: 0, the limit of the action.',
)
export const threshold = parameter(
  'det_prob_threshold',
  { type: 'number', minimum: 0, maximum: 1 },
  'The least box probability. Default: that of the confidence 0.6.',
)
export const predictionCount = parameter(
  'prediction_count',
  { type: 'integer', minimum: 0, maximum: 100 },
  'The most subjects per face. Default: 1.',
)
const plugins = parameter(
  'face_plugins',
  { type: 'string', maxLength: 256 },
  'Of `age`, `gender`, `landmarks` and `pose`, separated by commas. Other names are left out of the response and named in a header. `age` and `gender` need the permission `svc.analyze` and add 1 unit per image.',
)
const statusParameter = parameter(
  'status',
  { type: 'boolean' },
  'Adds `execution_time` and `plugins_versions`, which are empty without the permission `debug`.',
)

/** The parameters of every route that detects faces. */
export const imageOptions = [limit, threshold, plugins, statusParameter]
export const subjectParameter = (isRequired: boolean): OpenApiObject =>
  parameter('subject', { type: 'string', maxLength: 128 }, 'The name of a subject.', isRequired)
