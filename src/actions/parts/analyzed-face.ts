import { z } from 'zod'
import { mapValues } from '../../lib/map-values.ts'
import { roundTo } from '../../lib/round-to.ts'
import type { FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import { face, quality } from '../schemas/fields.ts'
import { livenessDecision } from '../schemas/liveness.ts'
import { appearance, toAppearance, allAppearanceNames, unavailable } from './appearance.ts'
import { classifyLiveness } from './classify-liveness.ts'
import { withLiveness } from './extract-probes.ts'
import { qualityLevel } from './response-fields.ts'
import { qualityReasons } from './quality-reasons.ts'
import texts from '../schemas/field-texts.json' with { type: 'json' }

/** The values of `features` of svc.analyze. */
export const features = [
  'quality',
  'pose',
  'landmarks',
  'occlusion',
  'portrait',
  'liveness',
  'attributes',
] as const

export const percent = z.int().min(0).max(100)
const probability = z.number().min(0).max(1)

const components = z
  .object({
    sharpness: percent,
    brightness: percent,
    contrast: percent,
    exposure: percent,
    faceSize: percent,
    headPose: percent,
    eyesOpen: percent,
    mouthClosed: percent,
    occlusion: percent,
  })
  .meta({
    id: 'QualityComponents',
    description: texts.analyzedFace.components,
  })

/** A face in the response of svc.analyze. */
export const analyzedFace = face
  .extend({
    quality: quality.extend({ components: components.optional() }),
    occlusion: z
      .object({ leftEye: probability, rightEye: probability, lowerFace: probability })
      .optional()
      .describe(texts.analyzedFace.occlusion),
    suitableForEnrollment: z.boolean().describe(texts.analyzedFace.suitableForEnrollment),
    reasons: z.array(z.enum(qualityReasons)).describe(texts.analyzedFace.reasons),
    liveness: livenessDecision.optional(),
    attributes: appearance.optional(),
    unavailable: unavailable.optional(),
  })
  .meta({ id: 'AnalyzedFace' })

type RequestedFeatures = {
  readonly features: readonly (typeof features)[number][]
  readonly livenessThreshold?: number | undefined
}

/** Returns the fields that the requested features add to a face. */
export function toAnalyzedFace(
  result: FaceResult,
  analysis: ImageAnalysis,
  { features, livenessThreshold: threshold }: RequestedFeatures,
) {
  const { qualityScore: score, quality } = result
  return {
    quality: {
      score,
      level: qualityLevel(score),
      ...(features.includes('quality') && { components: quality.components }),
    },
    ...(features.includes('occlusion') && {
      occlusion: mapValues(quality.occlusion, (probability) => roundTo(probability, 3)),
    }),
    ...(features.includes('liveness') && {
      // As svc.liveness decides.
      liveness: classifyLiveness(withLiveness(result), analysis, {
        threshold,
        requireSingleFace: true,
      }),
    }),
    ...(features.includes('attributes') && toAppearance(result, allAppearanceNames)),
  }
}
