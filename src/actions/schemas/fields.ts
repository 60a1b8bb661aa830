import { z } from 'zod'
import { nilUuid } from '../../lib/ids.ts'
import { livenessSessionId } from './challenge.ts'
import texts from './field-texts.json' with { type: 'json' }

/** Fields that several actions share. They describe the wire format and transform nothing. */

const probability = z.number().min(0).max(1)

const minFaceConfidence = probability.default(0.6).describe(texts.fields.minFaceConfidence)

const minFaceSize = z.int().min(1).max(10_000).default(40).describe(texts.fields.minFaceSize)

const facePolicies = ['largest', 'single', 'strict'] as const

export type FacePolicy = (typeof facePolicies)[number]

const facePolicy = (defaultPolicy: FacePolicy) =>
  z.enum(facePolicies).default(defaultPolicy).describe(texts.fields.facePolicy)

const minQuality = (defaultScore: number) =>
  z.number().min(0).max(100).default(defaultScore).describe(texts.fields.minQuality)

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

export const livenessThreshold = probability.optional().describe(texts.fields.livenessThreshold)

/** The parameters that require a live face. */
export const requiredLivenessParams = {
  requireLiveness: z.boolean().default(false).describe(texts.fields.requireLiveness),
  livenessThreshold,
  livenessSessionId: livenessSessionId.optional(),
}

/** An id in a request, in lower case as in the database. */
export const uuid = z
  .guid({ abort: true })
  .toLowerCase()
  .refine((text) => text !== nilUuid, 'must be a UUID other than the nil UUID')

export const subjectId = uuid.describe(texts.fields.subjectId)

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
export function toComposed(text: string): string {
  return text.length > normalizedCharsMax ? text : text.normalize('NFC')
}

const visibleText = (charsMax: number) =>
  z
    .string()
    .overwrite(toComposed)
    .min(1)
    .max(charsMax, { abort: true })
    .refine(...withoutControls)

export const externalId = visibleText(128).describe(texts.fields.externalId)

export const displayName = visibleText(256)

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
  .describe(texts.fields.attributes)

/** A time in a request. The pattern is not applied to long texts: 24 MiB of digits take 80 ms. */
export const utcTime = z
  .string()
  .max(40, { abort: true })
  .check(
    z.iso.datetime({
      error: 'must be an ISO 8601 UTC time that exists, such as 2030-01-31T00:00:00Z',
    }),
  )

export const expiresAtUtc = utcTime.describe(texts.fields.expiresAtUtc)

/** What a caller should know about a successful result. */
export const warnings = z.array(z.string()).min(1).optional().describe(texts.fields.warnings)

/** 0..1, calibrated: 0.70 is one false match in 10³ comparisons, 0.80 in 10⁴, 0.90 in 10⁵. */
export const similarity = z.number().min(0).max(1)

/** `params.threshold` of an action that compares faces. */
export const matchThreshold = z.union([similarity, z.literal('auto')])

export const matchLevel = z.enum(['none', 'low', 'medium', 'high', 'veryHigh'])

export const calibration = z
  .enum(['gallery', 'model', 'pictures'])
  .describe(texts.fields.calibration)

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
    providers: z.record(z.string(), z.string()).describe(texts.fields.providers),
    scores: z.record(z.string(), z.number()).describe(texts.fields.scores),
    timingsMs: z.record(z.string(), z.number()).describe(texts.fields.timingsMs),
    candidatesBelowThreshold: z.array(candidate).max(5).optional(),
  })
  .optional()
  .describe(texts.fields.debug)

const point = z.object({ x: z.number(), y: z.number() }).meta({ id: 'Point' })

/** How suitable a face is for recognition. */
export const quality = z.object({
  score: z.int().min(0).max(100),
  level: z.enum(['low', 'medium', 'high']).describe(texts.fields.level),
})

/** A face in a response. */
export const face = z
  .object({
    faceIndex: z.int().min(0),
    boundingBox: z
      .object({ left: z.int(), top: z.int(), width: z.int().min(1), height: z.int().min(1) })
      .describe(texts.fields.boundingBox),
    relativeBoundingBox: z
      .object({ left: z.number(), top: z.number(), width: z.number(), height: z.number() })
      .describe(texts.fields.relativeBoundingBox),
    confidence: probability.describe(texts.fields.confidence),
    landmarks: z
      .object({
        leftEye: point,
        rightEye: point,
        noseTip: point,
        leftMouth: point,
        rightMouth: point,
      })
      .optional()
      .describe(texts.fields.landmarks),
    pose: z.object({
      yaw: z.number().describe(texts.fields.yaw),
      pitch: z.number().describe(texts.fields.pitch),
      roll: z.number().describe(texts.fields.roll),
    }),
    quality,
  })
  .meta({ id: 'Face' })

export type FaceValue = z.output<typeof face>

/** The image after its EXIF orientation was applied. */
export const imageFacts = z
  .object({
    width: z.int().describe(texts.fields.width),
    height: z.int(),
    orientationApplied: z.boolean().describe(texts.fields.orientationApplied),
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
