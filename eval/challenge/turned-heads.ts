import { toEncodedImage, type AnalyzeImage } from '../../src/evaluation/face-images.ts'
import {
  isTurn,
  type AngleRange,
  type ChallengeStep,
} from '../../src/lib/liveness/challenge-steps.ts'
import type { RandomSource } from '../../src/lib/random/seeded-random.ts'
import type { FaceResult } from '../../src/vision/image-analysis.ts'
import type { Point3 } from '../../src/vision/landmarks/mesh.ts'
import { challengeFrameRequest } from './sequences/frame-request.ts'
import { drawView, viewKinds, type ViewSource } from './drawn-views.ts'
import type { Surface } from './render-surface.ts'

/** Draws views of one kind of one person by any angle. */
export type ViewDrawer = (step: ChallengeStep | undefined, degrees: number) => Promise<Buffer>

/** The shape of a surface is computed once for all views: most of the time of a drawing. */
export async function openViews(
  name: string,
  source: ViewSource,
  random: RandomSource,
): Promise<ViewDrawer> {
  const kind = viewKinds.find((each) => each.name === name)
  if (!kind) throw new Error(`there are no views of the kind ${name}`)
  const surfaces = (await kind.surfacesOf(source, random, undefined)).map(withKeptShape)
  return (step, degrees) =>
    drawView({ ...kind, degrees, surfacesOf: async () => surfaces }, source, { step, random })
}

function withKeptShape(surface: Surface): Surface {
  const kept = new Map<string, Point3>()
  const shape: Surface['shape'] = (u, v) => {
    const key = `${u} ${v}`
    const point = kept.get(key) ?? surface.shape(u, v)
    kept.set(key, point)
    return point
  }
  return { ...surface, shape }
}

const sizeRequest = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 1 }

/** Analyzes a frame in comparison with the first. @returns undefined without a face. */
export async function analyzeFrame(
  jpeg: Buffer,
  first: FaceResult | undefined,
  analyzeImage: AnalyzeImage,
): Promise<FaceResult | undefined> {
  const request = { ...sizeRequest, ...challengeFrameRequest(first) }
  return (await analyzeImage(toEncodedImage(jpeg), request)).faces[0]
}

/** As many as the component checks for one position. */
const checksMax = 16
const noFaceDegrees = 10
/** The share of the remaining angle by which a person corrects the position. */
const correction = 0.8

/**
 * Draws a head that follows the guidance of the component: it moves until its measured angle is the
 * requested one.
 *
 * @returns undefined if no check shows the angle.
 */
export async function followGuidance(
  { step, angle }: { readonly step: ChallengeStep; readonly angle: AngleRange },
  first: FaceResult,
  frameAt: (degrees: number) => Promise<FaceResult | undefined>,
): Promise<FaceResult | undefined> {
  const wanted = (angle.degreesMin + angle.degreesMax) / 2
  let degrees = wanted / 2
  for (let check = 0; check < checksMax; check++) {
    const frame = await frameAt(degrees)
    // Without a face in the picture, the head turns back.
    const moved = frame ? movementOf(step, first, frame) : wanted + noFaceDegrees
    if (frame && moved >= angle.degreesMin && moved <= angle.degreesMax) return frame
    degrees = Math.max(0, degrees + correction * (wanted - moved))
  }
  return undefined
}

/** Returns the change of the angle in the direction of the step. */
export function movementOf(step: ChallengeStep, first: FaceResult, frame: FaceResult): number {
  const axis = isTurn(step) ? 'yaw' : 'pitch'
  const change = (frame.challenge?.[axis] ?? 0) - (first.challenge?.[axis] ?? 0)
  return step === 'turnLeft' || step === 'lookUp' ? change : -change
}
