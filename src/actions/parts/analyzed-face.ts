import { z } from 'zod'
import type { FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import { appearance, toAppearance, allAppearanceNames, unavailable } from './appearance.ts'
import { face, quality } from '../schemas/fields.ts'
import { qualityLevel } from './face-value.ts'
import { classifyLiveness } from './classify-liveness.ts'
import { livenessResult } from '../liveness.ts'
import { qualityReasons } from './quality-reasons.ts'
import { withLiveness } from './extract-probes.ts'

/** What svc.analyze can tell. */
export const features = [
  'quality',
  'pose',
  'landmarks',
  'occlusion',
  'portrait',
  'liveness',
  'attributes',
] as const

type Feature = (typeof features)[number]

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
    description:
      'As ISO/IEC 29794-5 names them; 100: does not stand in the way. Of occlusion too: 100 is a free face.',
  })

/** A face as svc.analyze tells it. */
export const analyzedFace = face
  .extend({
    quality: quality.extend({ components: components.optional() }),
    occlusion: z
      .object({ leftEye: probability, rightEye: probability, lowerFace: probability })
      .optional()
      .meta({ description: 'How probably something covers them; left and right as in the image.' }),
    suitableForEnrollment: z.boolean().meta({
      description: 'Whether svc.enroll with its default parameters would take this face.',
    }),
    reasons: z.array(z.enum(qualityReasons)).meta({
      description: 'What stands out. A face can be suitable all the same.',
    }),
    liveness: livenessResult.optional(),
    attributes: appearance.optional(),
    unavailable: unavailable.optional(),
  })
  .meta({ id: 'AnalyzedFace' })

type RequestedFeatures = {
  readonly features: readonly Feature[]
  readonly livenessThreshold?: number | undefined
}

/** What the features add to a face. */
export function toAnalyzedFace(
  seen: FaceResult,
  view: ImageAnalysis,
  { features, livenessThreshold }: RequestedFeatures,
) {
  const { qualityScore: score, quality } = seen
  return {
    quality: {
      score,
      level: qualityLevel(score),
      ...(features.includes('quality') && { components: quality.components }),
    },
    ...(features.includes('occlusion') && { occlusion: rounded(quality.occlusion) }),
    ...(features.includes('liveness') && {
      liveness: livenessValueOf(seen, view, livenessThreshold),
    }),
    ...(features.includes('attributes') && toAppearance(seen, allAppearanceNames)),
  }
}

/** As svc.liveness judges. */
function livenessValueOf(seen: FaceResult, view: ImageAnalysis, threshold: number | undefined) {
  const { reasons, ...judgement } = classifyLiveness(withLiveness(seen), view, {
    threshold,
    requireSingleFace: true,
  })
  return { ...judgement, reasons: [...reasons] }
}

function rounded(occlusion: FaceResult['quality']['occlusion']) {
  const round = (value: number): number => Math.round(value * 1000) / 1000
  return {
    leftEye: round(occlusion.leftEye),
    rightEye: round(occlusion.rightEye),
    lowerFace: round(occlusion.lowerFace),
  }
}
