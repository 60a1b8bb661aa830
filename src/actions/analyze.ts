import { z } from 'zod'
import { ActionError } from '../lib/errors.ts'
import type { AnalysisRequest } from '../vision/image-analysis.ts'
import { defineAction, type ActionCall } from './action.ts'
import { analyzedFace, features, percent, toAnalyzedFace } from './parts/analyzed-face.ts'
import { attributesToRead, allAppearanceNames } from './parts/appearance.ts'
import { debugInfo } from './parts/candidates.ts'
import { assessEnrollment, enrollmentMinima } from './parts/assess-enrollment.ts'
import { analyzeExample } from './schemas/examples.ts'
import { toFaceValue, toImageFacts } from './parts/face-value.ts'
import {
  debug,
  facePolicy,
  imageFacts,
  images,
  livenessThreshold,
  minFaceConfidence,
  minFaceSize,
  minQuality,
} from './schemas/fields.ts'
import { imageErrors } from './parts/action-errors.ts'
import { portrait, checkPortrait } from './parts/portrait.ts'

const analyzeParams = z
  .strictObject({
    images,
    features: z
      .array(
        z.enum(features, {
          error: ({ input }) =>
            `${JSON.stringify(input).slice(0, 64)} is none of ${features.join(', ')}`,
        }),
      )
      .min(1)
      .default(['quality', 'pose', 'landmarks', 'occlusion'])
      .meta({
        description:
          'What is told beside box, pose, score and reasons, which are always there: the components of the quality, landmarks, what covers the face; the checks of a portrait; what svc.liveness and svc.attributes say of every face.',
      }),
    maxFaces: z.int().min(1).max(100).default(10),
    minFaceConfidence,
    minFaceSize,
    facePolicy: facePolicy('largest'),
    minQuality: minQuality(0),
    livenessThreshold,
  })
  .meta({ id: 'AnalyzeParams' })

type AnalyzeCall = ActionCall<z.output<typeof analyzeParams>>

/** Is this image good enough, and what is in it? No face is a success with an empty list. */
export const analyze = defineAction({
  name: 'svc.analyze',
  summary:
    'Say of every face of an image how good it is, what is wrong with it, and more on request.',
  price: () => 1,
  params: analyzeParams,
  value: z
    .object({
      faceCount: z.int().min(0).meta({ description: 'Faces found, also those beyond maxFaces.' }),
      image: imageFacts.extend({ brightness: percent, sharpness: percent }),
      faces: z.array(analyzedFace),
      portrait: portrait.optional(),
      debug,
    })
    .meta({ id: 'AnalyzeValue' }),
  errors: [...imageErrors, 'MULTIPLE_FACES'],
  example: analyzeExample,
  run: async (call) => {
    const { params, services, caller, signal } = call
    const [image] = params.images
    const where = { projectId: caller.projectId, path: 'params.images[0]', signal }
    const view = await services.vision.analyzeImage(image, analysisRequest(call), where)
    if (params.facePolicy === 'single' && view.faceCount > 1)
      throw new ActionError('MULTIPLE_FACES', `the image shows ${view.faceCount} faces, not one`)
    const good = view.faces.filter(({ qualityScore }) => qualityScore >= params.minQuality)
    const canEnroll = assessEnrollment(view)
    const { brightness = 0, sharpness = 0 } = view.imageQuality ?? {}
    const faces = good.slice(0, params.maxFaces)
    const value = {
      faceCount: view.faceCount - (view.faces.length - good.length),
      image: { ...toImageFacts(view), brightness, sharpness },
      faces: faces.map((one, index) => ({
        ...toFaceValue(view, one, index, { landmarks: params.features.includes('landmarks') }),
        ...toAnalyzedFace(one, view, params),
        ...canEnroll(one),
      })),
      ...(params.features.includes('portrait') && { portrait: checkPortrait(view) }),
      ...debugInfo(call.debug, view, faces[0]),
    }
    return [{ correlationId: image.correlationId, value }]
  },
})

const facesMax = 100

/** Faces can only be passed over for their quality once they are all looked at. */
function analysisRequest({ params, caller }: AnalyzeCall): AnalysisRequest {
  const { minFaceConfidence, minFaceSize, maxFaces, minQuality, features } = params
  return {
    minFaceConfidence,
    minFaceSizePx: minFaceSize,
    maxFaces: minQuality > 0 ? facesMax : maxFaces,
    countMinimums: enrollmentMinima,
    crops: false,
    imageQuality: true,
    liveness: features.includes('liveness'),
    ...(features.includes('attributes') && {
      attributes: attributesToRead(allAppearanceNames, caller),
    }),
  }
}
