import { z } from 'zod'

/** The parts of schemas that several actions share. Wire schemas only: nothing is transformed. */

/** Images beyond those that an action reads are ignored, but never more than this many are taken. */
const imagesMax = 10

const imageItem = z
  .strictObject({
    kind: z.literal('image'),
    bytes: z.string().meta({
      description: 'Base64 (RFC 4648 section 4, padded) of a JPEG or PNG of at most 8 MiB.',
    }),
    contentType: z.enum(['image/jpeg', 'image/jpg', 'image/png']),
    correlationId: z
      .string()
      .max(128)
      .optional()
      .meta({ description: 'Echoed on the result; `auto-<index>` when absent.' }),
  })
  .meta({ id: 'ImageItem' })

/** `params.images` of an action that reads one image; the type knows that the first is there. */
export const images = z
  .tuple([imageItem], imageItem)
  .refine((list) => list.length <= imagesMax, `must hold at most ${imagesMax} images`)
  .meta({ maxItems: imagesMax, description: 'The first image is read, further ones are ignored.' })

/** `params.images` of an action that reads them all. */
export const imageBatch = z
  .array(imageItem)
  .min(1)
  .max(imagesMax)
  .meta({ description: 'Each image is an item of the batch, with a result of its own.' })

/** `params.images` of an action that may do without. */
export const optionalImages = z
  .array(imageItem)
  .max(imagesMax)
  .optional()
  .meta({ description: 'The first image is read, further ones are ignored.' })

export const minFaceConfidence = z
  .number()
  .min(0)
  .max(1)
  .default(0.6)
  .meta({ description: 'Faces that the detector is less sure of are passed over.' })

export const minFaceSize = z
  .int()
  .min(1)
  .max(10_000)
  .default(40)
  .meta({ description: 'Faces whose shorter side is below this many pixels are passed over.' })

export const facePolicy = (fallback: 'largest' | 'single') =>
  z
    .enum(['largest', 'single'])
    .default(fallback)
    .meta({ description: '`single` refuses a picture with more than one face.' })

export const minQuality = (fallback: number) =>
  z
    .number()
    .min(0)
    .max(100)
    .default(fallback)
    .meta({ description: 'Lowest acceptable quality score of a face.' })

export const requireLiveness = z.boolean().default(false).meta({
  description:
    'Refuses a face that svc.liveness would not call live: LIVENESS_FAILED. Of two images of svc.verify the first is looked at; in svc.identify, further faces that are not live are passed over.',
})

export const livenessThreshold = z.number().min(0).max(1).optional().meta({
  description:
    'The score from which a face is live; without it, that of the networks in use. A higher one lets fewer attacks pass and refuses more people.',
})

export const subjectId = z.guid().meta({ description: 'As svc.enroll returned it.' })

export const externalId = z
  .string()
  .min(1)
  .max(128)
  .meta({ description: 'Your own id, unique in the gallery. Use one that says nothing by itself.' })

export const displayName = z.string().min(1).max(256)

/** A group is there from its first use to its last subject. */
export const groupName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/u, 'must be 1..64 of A-Z a-z 0-9 . _ : -')

export const groups = z.array(groupName).max(20)

const attributesBytesMax = 4096

export const attributes = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= attributesBytesMax,
    `must be at most ${attributesBytesMax} bytes of JSON`,
  )
  .meta({ description: 'A JSON object of your own, at most 4 KB.' })

export const expiresAtUtc = z.iso
  .datetime({ error: 'must be an ISO 8601 UTC time that exists, such as 2030-01-31T00:00:00Z' })
  .meta({ description: 'When the subject is deleted by itself.' })

/** 0..1, calibrated: 0.70 is one false match in 10³ comparisons, 0.80 in 10⁴, 0.90 in 10⁵. */
export const similarity = z.number().min(0).max(1)

export const matchLevel = z.enum(['none', 'low', 'medium', 'high', 'veryHigh'])

/** A subject that was found, or nearly. */
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

/** How an answer came about; only with `debug`. Never a template. */
export const debug = z
  .object({
    providers: z.record(z.string(), z.string()),
    scores: z.record(z.string(), z.number()),
    timingsMs: z.record(z.string(), z.number()),
    candidatesBelowThreshold: z.array(candidate).max(5).optional(),
  })
  .optional()
  .meta({ description: 'Only when the request says `debug`.' })

const point = z.object({ x: z.number(), y: z.number() }).meta({ id: 'Point' })

/** How good a face is for recognition. */
export const quality = z.object({
  score: z.int().min(0).max(100),
  level: z.enum(['low', 'medium', 'high']).meta({
    description: 'low below 40, medium from 40, high from 70.',
  }),
})

/** A face as every action that looks at one returns it. */
export const face = z
  .object({
    faceIndex: z.int().min(0),
    boundingBox: z
      .object({ left: z.int(), top: z.int(), width: z.int().min(1), height: z.int().min(1) })
      .meta({ description: 'Whole pixels of the upright image, origin top-left.' }),
    relativeBoundingBox: z
      .object({ left: z.number(), top: z.number(), width: z.number(), height: z.number() })
      .meta({ description: 'The same box in parts of the width and height of the image.' }),
    confidence: z.number().min(0).max(1).meta({ description: 'How sure the detector is.' }),
    landmarks: z
      .object({
        leftEye: point,
        rightEye: point,
        noseTip: point,
        leftMouth: point,
        rightMouth: point,
      })
      .optional()
      .meta({ description: 'Pixels of the upright image; left and right as seen in the image.' }),
    pose: z.object({
      yaw: z.number().meta({ description: 'Degrees; above 0 the nose points to image right.' }),
      pitch: z.number().meta({ description: 'Degrees; above 0 the nose points up.' }),
      roll: z.number().meta({ description: 'Degrees; above 0 the head leans to image right.' }),
    }),
    quality,
  })
  .meta({ id: 'Face' })

/** The image as it was looked at. */
export const imageFacts = z
  .object({
    width: z.int().meta({ description: 'Pixels of the upright image.' }),
    height: z.int(),
    orientationApplied: z
      .boolean()
      .meta({ description: 'Whether an EXIF orientation turned or mirrored the image.' }),
  })
  .meta({ id: 'ImageFacts' })
