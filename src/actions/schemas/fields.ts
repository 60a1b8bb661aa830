import { z } from 'zod'
import { nilUuid } from '../../lib/ids.ts'
import { livenessSessionId } from './challenge.ts'

/** Fields that several actions share. They describe the wire format and transform nothing. */

const minFaceConfidence = z
  .number()
  .min(0)
  .max(1)
  .default(0.6)
  .meta({ description: 'Faces with a lower detection confidence are ignored.' })

const minFaceSize = z
  .int()
  .min(1)
  .max(10_000)
  .default(40)
  .meta({ description: 'Faces with a shorter side below this number of pixels are ignored.' })

const facePolicies = ['largest', 'single', 'strict'] as const

export type FacePolicy = (typeof facePolicies)[number]

const facePolicy = (defaultPolicy: FacePolicy) =>
  z.enum(facePolicies).default(defaultPolicy).meta({
    description:
      '`largest` uses the largest face. `single` rejects an image with another face whose shorter side is at least half that of the largest face; smaller further faces are ignored. `strict` rejects an image with more than one face.',
  })

const minQuality = (defaultScore: number) =>
  z
    .number()
    .min(0)
    .max(100)
    .default(defaultScore)
    .meta({ description: 'Lowest accepted quality score of a face.' })

/** The parameters that select faces. */
export const faceParams = {
  minFaceConfidence,
  minFaceSize,
  facePolicy: facePolicy('largest'),
  minQuality: minQuality(0),
}

/** The parameters that select the face to enroll. */
export const enrollmentFaceParams = {
  minFaceConfidence,
  minFaceSize,
  facePolicy: facePolicy('single'),
  minQuality: minQuality(40),
}

export const livenessThreshold = z.number().min(0).max(1).optional().meta({
  description:
    'The score from which a face is live; by default the threshold of the installed liveness models. A higher threshold accepts fewer attacks and rejects more live people.',
})

/** The parameters that require a live face. */
export const requiredLivenessParams = {
  requireLiveness: z.boolean().default(false).meta({
    description:
      'Rejects a face that svc.liveness would not classify as live: LIVENESS_FAILED. svc.verify checks the first of two images. svc.identify ignores further faces that are not live.',
  }),
  livenessThreshold,
  livenessSessionId: livenessSessionId.optional(),
}

/** An id in a request. */
export const uuid = z
  .guid()
  .refine((text) => text !== nilUuid, 'must be a UUID other than the nil UUID')

export const subjectId = uuid.meta({ description: 'The id that svc.enroll returned.' })

/** Refuses U+0000 to U+001F and U+007F to U+009F: they are invisible in lists and logs. */
const withoutControls = [
  (text: string): boolean => !/\p{Cc}/u.test(text),
  'must not contain control characters, such as line breaks or tabs',
] as const

/**
 * The UTF-16 units of the longest text that is normalized: several times those of any field. The time
 * grows with the square of the length: 60,000 combining marks in 120 kB block the event loop for 2.5 s.
 */
const normalizedCharsMax = 2048

/** Normalizes a text to Unicode NFC. A longer text stays as it is, and exceeds the limit of its field. */
function toComposed(text: string): string {
  return text.length > normalizedCharsMax ? text : text.normalize('NFC')
}

export const externalId = z
  .string()
  .overwrite(toComposed)
  .min(1)
  .max(128, { abort: true })
  .refine(...withoutControls)
  .meta({
    description:
      'Your id of the subject, unique in the gallery; normalized to Unicode NFC, without control characters. Choose an id without personal data.',
  })

export const displayName = z
  .string()
  .overwrite(toComposed)
  .min(1)
  .max(256, { abort: true })
  .refine(...withoutControls)

/** A group exists as long as a subject belongs to it. */
export const groupName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/u,
    'must have 1 to 64 of the characters A-Z a-z 0-9 . _ : - and start with a letter or digit',
  )

export const groups = z.array(groupName).max(20)

const attributesBytesMax = 4096

export const attributes = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => isJsonWithin(value, attributesBytesMax),
    `must be at most ${attributesBytesMax} bytes of JSON`,
  )
  .meta({ description: 'A JSON object with your data, at most 4 KB.' })

/** A time in a request. The pattern is not applied to long texts: 24 MiB of digits take 80 ms. */
export const utcTime = z
  .string()
  .max(40, { abort: true })
  .check(
    z.iso.datetime({
      error: 'must be an ISO 8601 UTC time that exists, such as 2030-01-31T00:00:00Z',
    }),
  )

export const expiresAtUtc = utcTime.meta({
  description:
    'A time in the future. From then on no call finds the subject; it is deleted within a minute.',
})

/** What a caller should know about a successful result. */
export const warnings = z.array(z.string()).min(1).optional().meta({
  description: 'Advice about the request or the result, for people; absent if there is none.',
})

/** 0..1, calibrated: 0.70 is one false match in 10³ comparisons, 0.80 in 10⁴, 0.90 in 10⁵. */
export const similarity = z.number().min(0).max(1)

/** `params.threshold` of an action that compares faces. */
export const matchThreshold = z.union([similarity, z.literal('auto')])

export const matchLevel = z.enum(['none', 'low', 'medium', 'high', 'veryHigh'])

export const calibration = z.enum(['gallery', 'model', 'pictures']).meta({
  description:
    'The table that similarities and thresholds refer to: measured on this gallery (`facegate calibrate`), or that of the model. `pictures`: the table of an installed recognizer whose cohort has no rows of other populations; it holds only for pictures like those of its calibration.',
})

/** A subject that a search returned. */
export const candidate = z
  .object({
    subjectId: z.uuid(),
    externalId: z.string().nullable(),
    displayName: z.string().nullable(),
    similarity,
    matchLevel,
    faceId: z.uuid(),
    groups: z.array(z.string()),
  })
  .meta({ id: 'Candidate' })

/** How a result was computed; only with `debug`. It never contains a template. */
export const debug = z
  .object({
    providers: z.record(z.string(), z.string()).meta({
      description:
        'The models by role. `recognizer` is the `modelId` of its templates; `formerRecognizer` are those of previous models.',
    }),
    scores: z.record(z.string(), z.number()).meta({
      description:
        'Raw scores. `detector`: confidence of the face, 0..1, no unit. `recognizer`: of the compared templates, −distance² − ½(density + density) of unit vectors, no unit, −4..4 and higher for more similar faces: a distance² is 0..4, and a density −4..0, or 0 for a recognizer without densities. `liveness` and the names of liveness models: probability of a live face, 0..1.',
    }),
    timingsMs: z.record(z.string(), z.number()).meta({ description: 'Milliseconds per stage.' }),
    candidatesBelowThreshold: z.array(candidate).max(5).optional(),
  })
  .optional()
  .meta({ description: 'Only if the request has `debug: true`.' })

const point = z.object({ x: z.number(), y: z.number() }).meta({ id: 'Point' })

/** How suitable a face is for recognition. */
export const quality = z.object({
  score: z.int().min(0).max(100),
  level: z.enum(['low', 'medium', 'high']).meta({
    description: 'low below 40, medium from 40, high from 70.',
  }),
})

/** A face in a response. */
export const face = z
  .object({
    faceIndex: z.int().min(0),
    boundingBox: z
      .object({ left: z.int(), top: z.int(), width: z.int().min(1), height: z.int().min(1) })
      .meta({ description: 'Whole pixels of the upright image, origin top-left.' }),
    relativeBoundingBox: z
      .object({ left: z.number(), top: z.number(), width: z.number(), height: z.number() })
      .meta({ description: 'The same box as fractions of the image width and height.' }),
    confidence: z.number().min(0).max(1).meta({ description: 'Detection confidence.' }),
    landmarks: z
      .object({
        leftEye: point,
        rightEye: point,
        noseTip: point,
        leftMouth: point,
        rightMouth: point,
      })
      .optional()
      .meta({ description: 'Pixels of the upright image; left and right as in the image.' }),
    pose: z.object({
      yaw: z.number().meta({ description: 'Degrees; above 0 the nose points to image right.' }),
      pitch: z.number().meta({ description: 'Degrees; above 0 the nose points up.' }),
      roll: z.number().meta({ description: 'Degrees; above 0 the head leans to image right.' }),
    }),
    quality,
  })
  .meta({ id: 'Face' })

export type FaceValue = z.output<typeof face>

/** The image after its EXIF orientation was applied. */
export const imageFacts = z
  .object({
    width: z.int().meta({ description: 'Pixels of the upright image.' }),
    height: z.int(),
    orientationApplied: z
      .boolean()
      .meta({ description: 'Whether an EXIF orientation rotated or mirrored the image.' }),
  })
  .meta({ id: 'ImageFacts' })

/** Returns whether a JSON value has at most `bytesMax` bytes. The text of a larger one is not built. */
function isJsonWithin(value: unknown, bytesMax: number): boolean {
  return textLength(value) <= bytesMax && Buffer.byteLength(JSON.stringify(value)) <= bytesMax
}

/** Returns the number of characters in keys and texts, which is a lower limit of the bytes. */
function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  const keys = Array.isArray(value) ? '' : Object.keys(value).join('')
  return Object.values(value).reduce((sum: number, part) => sum + textLength(part), keys.length)
}
