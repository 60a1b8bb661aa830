import { z } from 'zod'
import type { AnalysisRequest } from '../vision/image-analysis.ts'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'
import { defineAction, type ActionCall } from './action.ts'
import { imageErrors } from './parts/action-errors.ts'
import { analyzedFace, features, percent, toAnalyzedFace } from './parts/analyzed-face.ts'
import { attributesToRead, allAppearanceNames } from './parts/appearance.ts'
import { assessEnrollment, enrollmentMinima } from './parts/quality-reasons.ts'
import { imageFields, toFaceValue } from './parts/response-fields.ts'
import { facesMax, findAllFaces } from './parts/extract-probes.ts'
import { analyzeEachImage, isFlagSet } from './parts/pictures/extract-pictures.ts'
import { portrait, checkPortrait } from './parts/portrait.ts'
import examples from './schemas/examples.json' with { type: 'json' }
import { debug, faceParams, imageFacts, livenessThreshold, warnings } from './schemas/fields.ts'
import { allImages, images } from './schemas/images.ts'
import texts from './schemas/field-texts.json' with { type: 'json' }

const analyzeParams = z
  .strictObject({
    images,
    allImages,
    features: z
      .array(z.enum(features))
      .min(1)
      .default(['quality', 'pose', 'landmarks', 'occlusion'])
      .describe(texts.analyze.features),
    maxFaces: z.int().min(1).max(facesMax).default(10),
    ...faceParams,
    livenessThreshold,
  })
  .meta({ id: 'AnalyzeParams' })

type AnalyzeCall = ActionCall<z.output<typeof analyzeParams>>

/** Reports the quality of an image and its faces. An image without a face is not an error. */
export const analyze = defineAction({
  name: 'svc.analyze',
  summary: 'Report the quality and the defects of every face of an image, and more on request.',
  price: (imageCount, params) => (isFlagSet(params, 'allImages') ? imageCount : 1),
  params: analyzeParams,
  resultPerImage: 'allImages',
  analyzesAllImages: (params) => isFlagSet(params, 'allImages'),
  value: z
    .object({
      faceCount: z.int().min(0).describe(texts.analyze.faceCount),
      image: imageFacts.extend({ brightness: percent, sharpness: percent }),
      faces: z.array(analyzedFace),
      portrait: portrait.optional(),
      warnings,
      debug,
    })
    .meta({ id: 'AnalyzeValue' }),
  errors: [...imageErrors, 'MULTIPLE_FACES'],
  example: examples['svc.analyze'],
  run: (call) => analyzeEachImage(call, analyzeImage),
})

async function analyzeImage(call: AnalyzeCall, image: EncodedImage, index: number) {
  const { params } = call
  const found = await findAllFaces(call, image, index, analysisOptions(call))
  const { analysis, faceCount, faces } = found
  const enrollmentOf = assessEnrollment(analysis)
  const { brightness = 0, sharpness = 0 } = analysis.imageQuality ?? {}
  const fields = imageFields(call, analysis, faces[0])
  return {
    ...fields,
    image: { ...fields.image, brightness, sharpness },
    faceCount,
    faces: faces.map((face, faceIndex) => ({
      ...toFaceValue(analysis, face, faceIndex, {
        landmarks: params.features.includes('landmarks'),
      }),
      ...toAnalyzedFace(face, analysis, params),
      ...enrollmentOf(face),
    })),
    ...(params.features.includes('portrait') && { portrait: checkPortrait(analysis) }),
  }
}

function analysisOptions({ params: { features }, caller }: AnalyzeCall): Partial<AnalysisRequest> {
  return {
    countMinimums: enrollmentMinima,
    imageQuality: true,
    liveness: features.includes('liveness'),
    ...(features.includes('attributes') && {
      attributes: attributesToRead(allAppearanceNames, caller),
    }),
  }
}
