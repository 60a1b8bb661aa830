import { z } from 'zod'
import { ActionError } from '../lib/errors.ts'
import type { Look } from '../vision/view.ts'
import { defineAction } from './action.ts'
import { faceOf, imageOf } from './face.ts'
import {
  face,
  facePolicy,
  imageFacts,
  images,
  minFaceConfidence,
  minFaceSize,
  minQuality,
} from './fields.ts'

const facesMax = 100

const detectParams = z
  .strictObject({
    images,
    maxFaces: z
      .int()
      .min(1)
      .max(facesMax)
      .default(facesMax)
      .meta({ description: 'The most faces to return, largest first.' }),
    returnLandmarks: z.boolean().default(true),
    returnCrops: z
      .boolean()
      .default(false)
      .meta({ description: 'Adds an aligned JPEG of each face, base64.' }),
    minFaceConfidence,
    minFaceSize,
    facePolicy: facePolicy('largest'),
    minQuality: minQuality(0),
  })
  .meta({ id: 'DetectParams' })

/** Finds every face of one image. No face is a success with an empty list. */
export const detect = defineAction({
  name: 'svc.detect',
  summary: 'Find the faces of an image: boxes, landmarks, pose and quality.',
  price: () => 1,
  params: detectParams,
  value: z
    .object({
      faceCount: z.int().min(0).meta({ description: 'Faces found, also those beyond maxFaces.' }),
      faces: z.array(
        face.extend({
          crop: z.string().optional().meta({ description: 'Aligned 112×112 JPEG, base64.' }),
        }),
      ),
      image: imageFacts,
    })
    .meta({ id: 'DetectValue' }),
  errors: [
    'IMAGE_DECODE_FAILED',
    'UNSUPPORTED_IMAGE_TYPE',
    'IMAGE_TOO_SMALL',
    'IMAGE_TOO_LARGE',
    'MULTIPLE_FACES',
  ],
  example: {
    params: { maxFaces: 10 },
    value: {
      faceCount: 1,
      faces: [
        {
          faceIndex: 0,
          boundingBox: { left: 68, top: 77, width: 308, height: 402 },
          relativeBoundingBox: { left: 0.1063, top: 0.0902, width: 0.4813, height: 0.4707 },
          confidence: 0.998,
          landmarks: {
            leftEye: { x: 156, y: 245 },
            rightEye: { x: 288, y: 241 },
            noseTip: { x: 219, y: 318 },
            leftMouth: { x: 168, y: 384 },
            rightMouth: { x: 282, y: 381 },
          },
          pose: { yaw: -3.1, pitch: 5.4, roll: 1 },
          quality: { score: 81, level: 'high' },
        },
      ],
      image: { width: 640, height: 854, orientationApplied: false },
    },
  },
  run: async ({ params, caller, services, signal }) => {
    const { images, facePolicy, maxFaces, returnLandmarks } = params
    const view = await services.vision.look(images[0], lookFor(params), {
      projectId: caller.projectId,
      path: 'params.images[0]',
      signal,
    })
    if (facePolicy === 'single' && view.faceCount > 1)
      throw new ActionError('MULTIPLE_FACES', `the image shows ${view.faceCount} faces, not one`)
    const good = view.faces.filter((face) => face.qualityScore >= params.minQuality)
    const faces = good.slice(0, maxFaces).map((seen, index) => ({
      ...faceOf(view, seen, index, { landmarks: returnLandmarks }),
      crop: seen.crop,
    }))
    const faceCount = view.faceCount - (view.faces.length - good.length)
    const value = { faceCount, faces, image: imageOf(view) }
    return [{ correlationId: images[0].correlationId, value }]
  },
})

/** Faces can only be passed over for their quality once they are all looked at. */
function lookFor(params: z.output<typeof detectParams>): Look {
  return {
    minFaceConfidence: params.minFaceConfidence,
    minFaceSizePx: params.minFaceSize,
    maxFaces: params.minQuality > 0 ? facesMax : params.maxFaces,
    crops: params.returnCrops,
  }
}
