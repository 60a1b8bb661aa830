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

const point = z.object({ x: z.number(), y: z.number() }).meta({ id: 'Point' })

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
    quality: z.object({
      score: z.int().min(0).max(100),
      level: z.enum(['low', 'medium', 'high']).meta({
        description: 'low below 40, medium from 40, high from 70.',
      }),
    }),
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
