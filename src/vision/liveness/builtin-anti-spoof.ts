import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { centreOf, squareAround, cropTransform } from '../image/geometry.ts'
import { meshBounds } from '../landmarks/mesh.ts'
import { formatProviders, type ModelSessions } from '../model-sessions.ts'
import { requireOutput } from '../session.ts'
import { toTensor } from '../tensor.ts'
import type { AntiSpoofModel } from './anti-spoof-model.ts'

const { liveness } = builtinPack.models
const { constants } = liveness

/**
 * Opens the built-in network, which runs on six crops of the face. A logistic fit combines the
 * results. The score is a weak signal: docs/liveness.md describes its training data and error rates.
 */
export async function openBuiltinAntiSpoof(sessions: ModelSessions): Promise<AntiSpoofModel> {
  const session = await sessions.openBuiltin('liveness')
  const { input } = session
  const providerId = formatProviders([liveness])
  return {
    providerId,
    liveMin: constants.liveMin,
    spoofMax: constants.spoofMax,
    contextMin: constants.contextMin,
    async predict(face, { pyramid }) {
      const box = meshBounds(face.mesh)
      const longer = Math.max(box.width, box.height)
      const componentScores: Record<string, number> = {}
      let sum: number = constants.bias
      for (const { cropFactor, weight } of constants.crops) {
        const square = squareAround(centreOf(box), cropFactor * longer)
        const crop = await pyramid.sample(cropTransform(square, input), input)
        const share =
          requireOutput(await session.run(toTensor(crop, input)), 'probabilities')[0] ?? 0
        componentScores[`${providerId} at ${cropFactor}`] = share
        sum += weight * logOdds(share)
      }
      return { score: 1 / (1 + Math.exp(-sum)), componentScores }
    },
  }
}

/** Limits the probability to 0.001..0.999, because more extreme values carry no information. */
export function logOdds(share: number): number {
  const bounded = Math.min(0.999, Math.max(0.001, share))
  return Math.log(bounded / (1 - bounded))
}
