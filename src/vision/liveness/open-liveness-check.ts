import { roundTo } from '../../lib/round-to.ts'
import type { ModelSet } from '../../models/model-set.ts'
import type { DetectedFace, ImageContext } from '../image-context.ts'
import { meshBounds, type Mesh } from '../landmarks/mesh.ts'
import type { ModelSessions } from '../model-sessions.ts'
import type { AntiSpoofModel, AntiSpoofScore } from './anti-spoof-model.ts'
import { openBuiltinAntiSpoof } from './builtin-anti-spoof.ts'
import { cropFactorMax } from './crop-rect.ts'
import { openInstalledAntiSpoof } from './installed-anti-spoof.ts'
import type { LivenessResult } from './liveness-result.ts'

/** Estimates whether a face is a live person or a presentation, such as a print or a screen. */
export type LivenessCheck = {
  /** "id@version" of the networks, joined by "+". */
  readonly providers: string
  readonly check: (face: DetectedFace, context: ImageContext) => Promise<LivenessResult>
}

/** With several networks, score and thresholds are the means over all of them. */
export async function openLivenessCheck(
  { liveness }: Pick<ModelSet, 'liveness'>,
  sessions: ModelSessions,
): Promise<LivenessCheck> {
  const models =
    liveness === 'builtin'
      ? [await openBuiltinAntiSpoof(sessions)]
      : await Promise.all(liveness.map((model) => openInstalledAntiSpoof(model, sessions)))
  const mean = (valueOf: (model: AntiSpoofModel, index: number) => number): number =>
    models.reduce((sum, model, index) => sum + valueOf(model, index), 0) / models.length
  const thresholds = {
    liveMin: mean(({ liveMin }) => liveMin),
    spoofMax: mean(({ spoofMax }) => spoofMax),
  }
  const contextMin = Math.max(...models.map((model) => model.contextMin))
  return {
    providers: models.map(({ providerId }) => providerId).join('+'),
    async check(face, context) {
      const scores: AntiSpoofScore[] = []
      for (const { predict } of models) scores.push(await predict(face, context))
      return {
        // To the digits of the response, so that a reported 0.5 is never below the limit of 0.5.
        score: roundTo(
          mean((_, index) => scores[index]?.score ?? 0),
          4,
        ),
        ...thresholds,
        networks: Object.assign({}, ...scores.map(({ componentScores }) => componentScores)),
        isBuiltin: liveness === 'builtin',
        hasContext: cropFactorMax(meshBounds(face.mesh), context.image.frame) >= contextMin,
        hasColour: colourfulness(face.mesh) >= colourMin,
      }
    },
  }
}

/** Returns the mean difference between the largest and the smallest channel in the mesh crop. */
function colourfulness({ crop: { planes, width, height } }: Mesh): number {
  const size = width * height
  let sum = 0
  for (let i = 0; i < size; i++) {
    const red = planes[i] ?? 0
    const green = planes[i + size] ?? 0
    const blue = planes[i + 2 * size] ?? 0
    sum += Math.max(red, green, blue) - Math.min(red, green, blue)
  }
  return sum / size
}

/** Of 0..255. A grey JPEG has 0 to 2. */
const colourMin = 8
