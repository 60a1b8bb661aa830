import type { ModelSet } from '../../models/model-set.ts'
import type { Mesh } from '../landmarks/mesh.ts'
import type { DetectedFace, ImageContext } from '../image-context.ts'
import type { ModelSessions } from '../model-sessions.ts'
import type { LivenessResult } from '../image-analysis.ts'
import { openBuiltinAntiSpoof } from './builtin-anti-spoof.ts'
import { cropFactorMax } from './crop-rect.ts'
import { meshBounds } from './mesh-bounds.ts'
import { openInstalledAntiSpoof } from './installed-anti-spoof.ts'

/** Says how much a face looks like a person and not like a picture of one. */
export type LivenessCheck = {
  /** "id@version" of the networks. */
  readonly providers: string
  readonly check: (face: DetectedFace, scene: ImageContext) => Promise<LivenessResult>
}

/** One network, with what its answers need to be understood. */
export type AntiSpoofModel = {
  /** "id@version". */
  readonly providerId: string
  /** See `Liveness`. */
  readonly liveMin: number
  readonly spoofMax: number
  /** How many times the face the picture must be wide and high. */
  readonly contextMin: number
  readonly predict: (face: DetectedFace, scene: ImageContext) => Promise<AntiSpoofScore>
}

/** Shares of "live", 0..1: the network's, and by name those that it is made of. */
export type AntiSpoofScore = {
  readonly score: number
  readonly componentScores: Readonly<Record<string, number>>
}

/** Several networks are asked together; score and thresholds are then the means of theirs. */
export async function openLivenessCheck(
  { liveness }: Pick<ModelSet, 'liveness'>,
  sessions: ModelSessions,
): Promise<LivenessCheck> {
  const judges =
    liveness === 'builtin'
      ? [await openBuiltinAntiSpoof(sessions)]
      : await Promise.all(liveness.map((one) => openInstalledAntiSpoof(one, sessions)))
  const mean = (valueOf: (judge: AntiSpoofModel, index: number) => number): number =>
    judges.reduce((sum, judge, index) => sum + valueOf(judge, index), 0) / judges.length
  const thresholds = {
    liveMin: mean(({ liveMin }) => liveMin),
    spoofMax: mean(({ spoofMax }) => spoofMax),
  }
  const contextMin = Math.max(...judges.map((judge) => judge.contextMin))
  return {
    providers: judges.map(({ providerId: id }) => id).join('+'),
    async check(face, scene) {
      const verdicts: AntiSpoofScore[] = []
      for (const { predict: judge } of judges) verdicts.push(await judge(face, scene))
      return {
        score: roundScore(mean((_, index) => verdicts[index]?.score ?? 0)),
        ...thresholds,
        networks: Object.assign({}, ...verdicts.map(({ componentScores: parts }) => parts)),
        hasContext: cropFactorMax(meshBounds(face), scene.image.frame) >= contextMin,
        hasColour: colourfulness(face.mesh) >= colourMin,
      }
    },
  }
}

/** Mean difference of the largest and the smallest of red, green and blue in the face's chip. */
function colourfulness({ crop: { planes, width, height } }: Mesh): number {
  const size = width * height
  let sum = 0
  for (let at = 0; at < size; at++) {
    const red = planes[at] ?? 0
    const green = planes[at + size] ?? 0
    const blue = planes[at + 2 * size] ?? 0
    sum += Math.max(red, green, blue) - Math.min(red, green, blue)
  }
  return sum / size
}

/** Of 0..255: a grey JPEG has 0 to 2. */
const colourMin = 8

/** To what the wire shows, so that nobody meets a 0.5 that is below 0.5. */
function roundScore(score: number): number {
  return Math.round(score * 10_000) / 10_000
}
