import { z } from 'zod'
import { roundTo } from '../../lib/round-to.ts'
import type { FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import texts from '../schemas/field-texts.json' with { type: 'json' }

/**
 * Portrait checks in the style of ISO/IEC 19794-5 (full frontal images) and ICAO Doc 9303, limited to
 * what is measured: ears, hats, red eyes, shadows and prints are not checked. The result is not a
 * certificate. The pose limits are wider than the ±5° of the standard by the error of the measured
 * pose (3°), and the height of the head is estimated from the chin and the eyes.
 */
export const portrait = z
  .object({
    compliant: z.boolean().describe(texts.portrait.compliant),
    checks: z.array(
      z.object({
        name: z.string(),
        value: z.number(),
        range: z.object({ min: z.number().nullable(), max: z.number().nullable() }),
        passed: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'Portrait' })

/** Checks the largest face as a portrait. */
export function checkPortrait(analysis: ImageAnalysis): z.output<typeof portrait> {
  const [face] = analysis.faces
  const faceCount = check('faceCount', analysis.faceCount, 1, 1)
  const checks = face ? [faceCount, ...portraitChecks(face, analysis)] : [faceCount]
  return { compliant: checks.every(({ passed }) => passed), checks }
}

function portraitChecks({ pose, quality, head }: FaceResult, { imageQuality }: ImageAnalysis) {
  const { components } = quality
  const position = head && [
    check('eyeDistancePx', head.eyeDistancePx, 90, null),
    check('headHeightShare', head.heightShare, 0.6, 0.9),
    check('horizontalPosition', head.eyeMidpoint.x, 0.45, 0.55),
    check('verticalPosition', head.eyeMidpoint.y, 0.3, 0.5),
  ]
  const background = imageQuality?.background
  return [
    check('yaw', pose.yaw, -offAxisMax, offAxisMax),
    check('pitch', pose.pitch, -offAxisMax, offAxisMax),
    check('roll', pose.roll, -offAxisMax, offAxisMax),
    ...(position ?? []),
    check('cutShare', quality.cutShare, 0, 0),
    // A head that fills the image leaves no background to check; other checks fail in that case.
    ...(background && background.share >= backgroundShareMin
      ? [check('backgroundDeviation', background.deviation, 0, backgroundDeviationMax)]
      : []),
    check('sharpness', components.sharpness, 50, 100),
    check('brightness', components.brightness, 90, 100),
    check('contrast', components.contrast, 50, 100),
    check('exposure', components.exposure, 90, 100),
    check('eyesOpen', components.eyesOpen, 50, 100),
    check('mouthClosed', components.mouthClosed, 50, 100),
    check('occlusion', components.occlusion, 50, 100),
  ]
}

/** Degrees. */
const offAxisMax = 8
const backgroundShareMin = 0.02
/** Luma. An evenly lit wall stays below it. */
const backgroundDeviationMax = 20

function check(name: string, measured: number, min: number | null, max: number | null) {
  const value = roundTo(measured, 3)
  const passed = (min === null || value >= min) && (max === null || value <= max)
  return { name, value, range: { min, max }, passed }
}
