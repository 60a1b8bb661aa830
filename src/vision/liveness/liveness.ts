import type { ModelSet } from '../../models/pack.ts'
import type { Mesh } from '../mesh.ts'
import type { Found, Scene } from '../scene.ts'
import type { Sessions } from '../sessions.ts'
import type { Liveness } from '../view.ts'
import { openBuiltinJudge } from './builtin-judge.ts'
import { reachOf } from './crop.ts'
import { faceBox } from './face-box.ts'
import { openInstalledJudge } from './installed-judge.ts'

/** Says how much a face looks like a person and not like a picture of one. */
export type LivenessCheck = {
  /** "id@version" of the networks. */
  readonly providers: string
  readonly check: (face: Found, scene: Scene) => Promise<Liveness>
}

/** One network, with what its answers need to be understood. */
export type SpoofJudge = {
  /** "id@version". */
  readonly id: string
  /** See `Liveness`. */
  readonly liveMin: number
  readonly spoofMax: number
  /** How many times the face the picture must be wide and high. */
  readonly contextMin: number
  readonly judge: (face: Found, scene: Scene) => Promise<Verdict>
}

/** Shares of "live", 0..1: the network's, and by name those that it is made of. */
export type Verdict = { readonly score: number; readonly parts: Readonly<Record<string, number>> }

/** Several networks are asked together; score and thresholds are then the means of theirs. */
export async function openLiveness(
  { liveness }: Pick<ModelSet, 'liveness'>,
  sessions: Sessions,
): Promise<LivenessCheck> {
  const judges =
    liveness === 'builtin'
      ? [await openBuiltinJudge(sessions)]
      : await Promise.all(liveness.map((one) => openInstalledJudge(one, sessions)))
  const mean = (valueOf: (judge: SpoofJudge, index: number) => number): number =>
    judges.reduce((sum, judge, index) => sum + valueOf(judge, index), 0) / judges.length
  const thresholds = {
    liveMin: mean(({ liveMin }) => liveMin),
    spoofMax: mean(({ spoofMax }) => spoofMax),
  }
  const contextMin = Math.max(...judges.map((judge) => judge.contextMin))
  return {
    providers: judges.map(({ id }) => id).join('+'),
    async check(face, scene) {
      const verdicts: Verdict[] = []
      for (const { judge } of judges) verdicts.push(await judge(face, scene))
      return {
        score: rounded(mean((_, index) => verdicts[index]?.score ?? 0)),
        ...thresholds,
        networks: Object.assign({}, ...verdicts.map(({ parts }) => parts)),
        hasContext: reachOf(faceBox(face), scene.upright.frame) >= contextMin,
        hasColour: colourOf(face.mesh) >= colourMin,
      }
    },
  }
}

/** Mean difference of the largest and the smallest of red, green and blue in the face's chip. */
function colourOf({ chip: { planes, width, height } }: Mesh): number {
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
function rounded(score: number): number {
  return Math.round(score * 10_000) / 10_000
}
