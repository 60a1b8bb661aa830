import type { OpenApiObject } from '../../http/openapi/schemas.ts'
import type { CompreFaceRoute } from '../serve-route.ts'
import { compreFaceRef, listOf } from './schemas.ts'

/** What the OpenAPI document contains about one route. */
export type DescribedRoute = Pick<CompreFaceRoute, 'method' | 'path'> & {
  readonly operationId: string
  readonly summary: string
  readonly permission: string
  /** Price units without plugins. */
  readonly units?: number
  readonly status?: 201
  readonly query?: readonly OpenApiObject[]
  /** The names of the images in the body. */
  readonly images?: readonly string[]
  /** The schema of the JSON body. */
  readonly body?: OpenApiObject
  /** The name of the schema of the response, without its prefix. */
  readonly response: string
}

const parameter = (
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
const threshold = parameter(
  'det_prob_threshold',
  { type: 'number', minimum: 0, maximum: 1 },
  'The least box probability. Default: that of the confidence 0.6.',
)
const predictionCount = parameter(
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
  { type: 'string', enum: ['true', 'false'] },
  'Adds `execution_time` and `plugins_versions`; needs the permission `debug`.',
)
const imageOptions = [limit, threshold, plugins, statusParameter]
const subject = (isRequired: boolean): OpenApiObject =>
  parameter('subject', { type: 'string', maxLength: 128 }, 'The name of a subject.', isRequired)

const faces = '/api/v1/recognition/faces'
const subjects = '/api/v1/recognition/subjects'

export const describedRoutes: readonly DescribedRoute[] = [
  {
    method: 'POST',
    path: faces,
    operationId: 'compreFaceAddFace',
    summary: 'Add a face to a subject',
    permission: 'svc.enroll',
    units: 2,
    status: 201,
    query: [subject(true), threshold],
    images: ['file'],
    response: 'Example',
  },
  {
    method: 'GET',
    path: faces,
    operationId: 'compreFaceListFaces',
    summary: 'List faces',
    permission: 'subjects:read',
    query: [
      parameter('page', { type: 'integer', minimum: 0 }, 'From 0. Default: 0.'),
      parameter('size', { type: 'integer', minimum: 1, maximum: 1000 }, 'Default: 20.'),
      subject(false),
    ],
    response: 'ExamplePage',
  },
  {
    method: 'DELETE',
    path: faces,
    operationId: 'compreFaceDeleteFaces',
    summary: 'Delete a subject with its faces, or all subjects',
    permission: 'svc.deleteSubject',
    query: [subject(false)],
    response: 'Deleted',
  },
  {
    method: 'POST',
    path: `${faces}/delete`,
    operationId: 'compreFaceDeleteFaceList',
    summary: 'Delete faces by id',
    permission: 'svc.deleteSubject',
    body: { ...listOf({ type: 'string', format: 'uuid' }), minItems: 1, maxItems: 200 },
    response: 'Examples',
  },
  {
    method: 'DELETE',
    path: `${faces}/:image_id`,
    operationId: 'compreFaceDeleteFace',
    summary: 'Delete a face',
    permission: 'svc.deleteSubject',
    response: 'Example',
  },
  {
    method: 'POST',
    path: `${faces}/:image_id/verify`,
    operationId: 'compreFaceVerifyFace',
    summary: 'Compare an image with the subject of a face',
    permission: 'svc.verify',
    units: 2,
    query: imageOptions,
    images: ['file'],
    response: 'FaceVerification',
  },
  {
    method: 'POST',
    path: subjects,
    operationId: 'compreFaceAddSubject',
    summary: 'Create a subject without a face',
    permission: 'svc.enroll',
    status: 201,
    body: compreFaceRef('Subject'),
    response: 'Subject',
  },
  {
    method: 'GET',
    path: subjects,
    operationId: 'compreFaceListSubjects',
    summary: 'List the names of all subjects',
    permission: 'subjects:read',
    response: 'Subjects',
  },
  {
    method: 'DELETE',
    path: subjects,
    operationId: 'compreFaceDeleteSubjects',
    summary: 'Delete all subjects of the gallery',
    permission: 'groups:delete',
    response: 'Deleted',
  },
  {
    method: 'PUT',
    path: `${subjects}/:subject`,
    operationId: 'compreFaceRenameSubject',
    summary: 'Rename a subject, or merge it into the subject with the new name',
    permission: 'svc.updateSubject',
    body: compreFaceRef('Subject'),
    response: 'Updated',
  },
  {
    method: 'DELETE',
    path: `${subjects}/:subject`,
    operationId: 'compreFaceDeleteSubject',
    summary: 'Delete a subject',
    permission: 'svc.deleteSubject',
    response: 'Subject',
  },
  {
    method: 'POST',
    path: '/api/v1/recognition/recognize',
    operationId: 'compreFaceRecognize',
    summary: 'Search the subjects of the faces of an image',
    permission: 'svc.identify',
    units: 2,
    query: [...imageOptions, predictionCount],
    images: ['file'],
    response: 'Recognition',
  },
  {
    method: 'POST',
    path: '/api/v1/detection/detect',
    operationId: 'compreFaceDetect',
    summary: 'Detect the faces of an image',
    permission: 'svc.detect',
    units: 1,
    query: imageOptions,
    images: ['file'],
    response: 'Detection',
  },
  {
    method: 'POST',
    path: '/api/v1/verification/verify',
    operationId: 'compreFaceVerifyImages',
    summary: 'Compare the face of an image with the faces of another',
    permission: 'svc.verify',
    units: 2,
    query: imageOptions,
    images: ['source_image', 'target_image'],
    response: 'ImageVerification',
  },
]
