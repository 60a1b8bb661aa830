import { z } from 'zod'
import type { AnalysisRequest } from '../vision/image-analysis.ts'
import { defineAction } from './action.ts'
import { imageErrors } from './parts/action-errors.ts'
import { debugInfo } from './parts/debug-info.ts'
import { applyFacePolicy } from './parts/extract-probes.ts'
import { toFaceValue, toImageFacts } from './parts/face-value.ts'
import { toWarnings, unusedImages } from './parts/pictures/warnings.ts'
import { faceExample, imageExample } from './schemas/examples.ts'
import { debug, face, faceParams, imageFacts, images, warnings } from './schemas/fields.ts'

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
    ...faceParams,
  })
  .meta({ id: 'DetectParams' })

/** Detects every face of one image. An image without a face is not an error. */
export const detect = defineAction({
  name: 'svc.detect',
  summary: 'Detect the faces of an image: boxes, landmarks, pose and quality.',
  price: () => 1,
  params: detectParams,
  value: z
    .object({
      faceCount: z
        .int()
        .min(0)
        .meta({ description: 'Number of faces, including those beyond maxFaces.' }),
      faces: z.array(
        face.extend({
          crop: z.string().optional().meta({ description: 'Aligned 112×112 JPEG, base64.' }),
        }),
      ),
      image: imageFacts,
      warnings,
      debug,
    })
    .meta({ id: 'DetectValue' }),
  errors: [...imageErrors, 'MULTIPLE_FACES'],
  example: {
    params: { maxFaces: 10 },
    value: { faceCount: 1, faces: [faceExample], image: imageExample },
  },
  run: async ({ params, caller, services, signal, debug: isDebug }) => {
    const { images, facePolicy, maxFaces, returnLandmarks } = params
    const analysis = await services.vision.analyzeImage(images[0], analysisRequest(params), {
      projectId: caller.projectId,
      path: 'params.images[0]',
      signal,
    })
    applyFacePolicy(analysis, facePolicy, 0)
    const accepted = analysis.faces.filter((face) => face.qualityScore >= params.minQuality)
    const value = {
      faceCount: analysis.faceCount - (analysis.faces.length - accepted.length),
      faces: accepted.slice(0, maxFaces).map((face, index) => ({
        ...toFaceValue(analysis, face, index, { landmarks: returnLandmarks }),
        crop: face.crop,
      })),
      image: toImageFacts(analysis),
      ...toWarnings(...unusedImages(images)),
      ...debugInfo(isDebug, analysis, accepted[0]),
    }
    return [{ correlationId: images[0].correlationId, value }]
  },
})

/** With a minimum quality, all faces are analyzed, because the rejected ones must not count. */
function analysisRequest(params: z.output<typeof detectParams>): AnalysisRequest {
  return {
    minFaceConfidence: params.minFaceConfidence,
    minFaceSizePx: params.minFaceSize,
    maxFaces: params.minQuality > 0 ? facesMax : params.maxFaces,
    crops: params.returnCrops,
  }
}
