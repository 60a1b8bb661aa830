import { z } from 'zod'
import { ActionError } from '../lib/errors.ts'
import type { AnalysisRequest } from '../vision/image-analysis.ts'
import { defineAction } from './action.ts'
import { detectExample } from './schemas/examples.ts'
import { imageErrors } from './parts/action-errors.ts'
import { toFaceValue, toImageFacts } from './parts/face-value.ts'
import { debugInfo } from './parts/candidates.ts'
import {
  debug,
  face,
  facePolicy,
  imageFacts,
  images,
  minFaceConfidence,
  minFaceSize,
  minQuality,
} from './schemas/fields.ts'

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
      debug,
    })
    .meta({ id: 'DetectValue' }),
  errors: [...imageErrors, 'MULTIPLE_FACES'],
  example: detectExample,
  run: async ({ params, caller, services, signal, debug: isDebug }) => {
    const { images, facePolicy, maxFaces, returnLandmarks } = params
    const view = await services.vision.analyzeImage(images[0], analysisRequest(params), {
      projectId: caller.projectId,
      path: 'params.images[0]',
      signal,
    })
    if (facePolicy === 'single' && view.faceCount > 1)
      throw new ActionError('MULTIPLE_FACES', `the image shows ${view.faceCount} faces, not one`)
    const good = view.faces.filter((face) => face.qualityScore >= params.minQuality)
    const faces = good.slice(0, maxFaces).map((seen, index) => ({
      ...toFaceValue(view, seen, index, { landmarks: returnLandmarks }),
      crop: seen.crop,
    }))
    const faceCount = view.faceCount - (view.faces.length - good.length)
    const debugging = debugInfo(isDebug, view, good[0])
    const value = { faceCount, faces, image: toImageFacts(view), ...debugging }
    return [{ correlationId: images[0].correlationId, value }]
  },
})

/** Faces can only be passed over for their quality once they are all looked at. */
function analysisRequest(params: z.output<typeof detectParams>): AnalysisRequest {
  return {
    minFaceConfidence: params.minFaceConfidence,
    minFaceSizePx: params.minFaceSize,
    maxFaces: params.minQuality > 0 ? facesMax : params.maxFaces,
    crops: params.returnCrops,
  }
}
