import { z } from 'zod'
import type { FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'

/**
 * Checks in the style of ISO/IEC 19794-5 (full frontal images) and ICAO Doc 9303, of what is really
 * measured; nothing is said of ears, hats, red eyes, shadows or prints. Not a certificate: borders
 * of the pose are wider than the standard's ±5° by what the pose may be off (3°), and the head's
 * height is estimated from chin and eyes.
 */
export const portrait = z
  .object({
    compliant: z.boolean().meta({ description: 'Whether every check passed.' }),
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

type PortraitCheck = z.output<typeof portrait>['checks'][number]

/** Judges the largest face as a portrait. */
export function checkPortrait(view: ImageAnalysis): z.output<typeof portrait> {
  const [face] = view.faces
  const count = check('faceCount', view.faceCount, 1, 1)
  const checks = face ? [count, ...portraitChecks(face, view)] : [count]
  return { compliant: checks.every(({ passed }) => passed), checks }
}

function portraitChecks(
  { pose, quality, head }: FaceResult,
  { imageQuality: picture }: ImageAnalysis,
): PortraitCheck[] {
  const { components } = quality
  const place = head && [
    check('eyeDistancePx', head.eyeDistancePx, 90, null),
    check('headHeightShare', head.heightShare, 0.6, 0.9),
    check('horizontalPosition', head.eyeMidpoint.x, 0.45, 0.55),
    check('verticalPosition', head.eyeMidpoint.y, 0.3, 0.5),
  ]
  const background = picture?.background
  return [
    check('yaw', pose.yaw, -offAxisMax, offAxisMax),
    check('pitch', pose.pitch, -offAxisMax, offAxisMax),
    check('roll', pose.roll, -offAxisMax, offAxisMax),
    ...(place ?? []),
    check('cutShare', quality.cutShare, 0, 0),
    // A head that fills the picture leaves nothing to judge; other checks fail then.
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
/** Luma; a wall in even light stays below it. */
const backgroundDeviationMax = 20

function check(
  name: string,
  measured: number,
  min: number | null,
  max: number | null,
): PortraitCheck {
  const value = Math.round(measured * 1000) / 1000
  const passed = (min === null || value >= min) && (max === null || value <= max)
  return { name, value, range: { min, max }, passed }
}
