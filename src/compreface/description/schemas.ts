import type { OpenApiObject } from '../../http/openapi/openapi-schemas.ts'

/** The schemas of requests and responses in the format of CompreFace. */

const text: OpenApiObject = { type: 'string' }
const count: OpenApiObject = { type: 'integer', minimum: 0 }
const share: OpenApiObject = { type: 'number', minimum: 0, maximum: 1 }
const pixels: OpenApiObject = { type: 'integer' }
const degrees: OpenApiObject = { type: 'number', description: 'Degrees.' }

/** Returns an object schema. All fields are required, except those named in `optional`. */
export function record(properties: OpenApiObject, optional: readonly string[] = []): OpenApiObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

export const listOf = (items: OpenApiObject): OpenApiObject => ({ type: 'array', items })

export const compreFaceRef = (name: string): OpenApiObject => ({
  $ref: `#/components/schemas/CompreFace${name}`,
})

const subjectSimilarity = record({ subject: text, similarity: share })

/** The fields of a face that options add. */
const optionalFields = {
  age: record({ probability: share, high: count, low: count }),
  gender: record({ probability: share, value: { type: 'string', enum: ['male', 'female'] } }),
  pose: record({ yaw: degrees, pitch: degrees, roll: degrees }),
  landmarks: {
    ...listOf(listOf(pixels)),
    description: 'Eyes, nose and corners of the mouth: pairs of x and y.',
  },
  execution_time: {
    type: 'object',
    additionalProperties: { type: 'number' },
    description: 'Milliseconds per stage; only with `status=true`.',
  },
}

const face = (fields: OpenApiObject = {}): OpenApiObject =>
  record({ ...optionalFields, box: compreFaceRef('Box'), ...fields }, Object.keys(optionalFields))

const versions = {
  plugins_versions: {
    type: 'object',
    additionalProperties: text,
    description: 'The models by role; only with `status=true`.',
  },
}

/** Returns a response with the list `result`. */
function resultOf(item: OpenApiObject): OpenApiObject {
  return record({ result: listOf(item), ...versions }, ['plugins_versions'])
}

export const compreFaceSchemas: OpenApiObject = {
  CompreFaceError: {
    ...record({ message: text, code: { type: 'integer' } }),
    description:
      'A failure. 28: no face. 31: more than one main face. 21: the image cannot be read. 26: an invalid parameter. 11: unknown subject or face. 20: missing or unknown key. 41: temporarily unavailable. 0: other.',
  },
  CompreFaceBox: record({
    probability: {
      ...share,
      description: 'On the scale of `det_prob_threshold`, on which 0.8 keeps plain faces.',
    },
    x_max: pixels,
    y_max: pixels,
    x_min: pixels,
    y_min: pixels,
  }),
  CompreFaceFace: face(),
  CompreFaceDetection: resultOf(compreFaceRef('Face')),
  CompreFaceRecognition: resultOf(
    face({
      subjects: {
        ...listOf(subjectSimilarity),
        description: 'Empty if no subject reaches the threshold of the project.',
      },
    }),
  ),
  CompreFaceFaceVerification: resultOf(face({ subject: text, similarity: share })),
  CompreFaceImageVerification: record({
    result: listOf(
      record(
        {
          source_image_face: compreFaceRef('Face'),
          face_matches: listOf(face({ similarity: share })),
          ...versions,
        },
        ['plugins_versions'],
      ),
    ),
  }),
  CompreFaceExample: record({
    image_id: { ...text, format: 'uuid', description: 'The `faceId` of Facegate.' },
    subject: { ...text, description: 'The `externalId` of Facegate, or the `subjectId`.' },
  }),
  CompreFaceExamples: listOf(compreFaceRef('Example')),
  CompreFaceExamplePage: record({
    faces: listOf(compreFaceRef('Example')),
    page_number: count,
    page_size: count,
    total_pages: count,
    total_elements: count,
  }),
  CompreFaceSubject: record({ subject: { ...text, minLength: 1, maxLength: 128 } }),
  CompreFaceSubjects: record({ subjects: listOf(text) }),
  CompreFaceUpdated: record({ updated: { type: 'boolean' } }),
  CompreFaceDeleted: record({ deleted: count }),
}
