import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { centreOf, squareAround } from '../image/geometry.ts'
import { formatProviders } from '../model-sessions.ts'
import type { ModelSessions } from '../model-sessions.ts'
import { requireOutput } from '../session.ts'
import { cropTransform } from '../image/similarity-transform.ts'
import { toTensor } from '../tensor.ts'
import { meshBounds } from './mesh-bounds.ts'
import type { AntiSpoofModel } from './open-liveness-check.ts'

const { liveness } = builtinPack.models
const { constants: recipe } = liveness

/**
 * The built-in network at six crops of the face, combined by a logistic fit. A weak signal: see
 * docs/liveness.md for what it was fitted on and how often it is wrong.
 */
export async function openBuiltinAntiSpoof(sessions: ModelSessions): Promise<AntiSpoofModel> {
  const session = await sessions.openBuiltin('liveness')
  const { input } = session
  const id = formatProviders([liveness])
  return {
    providerId: id,
    liveMin: recipe.liveMin,
    spoofMax: recipe.spoofMax,
    contextMin: recipe.contextMin,
    async predict(face, { pyramid }) {
      const box = meshBounds(face)
      const longer = Math.max(box.width, box.height)
      const parts: Record<string, number> = {}
      let sum: number = recipe.bias
      for (const { cropFactor, weight } of recipe.crops) {
        const square = squareAround(centreOf(box), cropFactor * longer)
        const chip = await pyramid.sample(cropTransform(square, input), input)
        const share =
          requireOutput(await session.run(toTensor(chip, input)), 'probabilities')[0] ?? 0
        parts[`${id} at ${cropFactor}`] = share
        sum += weight * logOdds(share)
      }
      return { score: 1 / (1 + Math.exp(-sum)), componentScores: parts }
    },
  }
}

/** Beyond one in a thousand the network's own certainty says nothing more. */
export function logOdds(share: number): number {
  const bounded = Math.min(0.999, Math.max(0.001, share))
  return Math.log(bounded / (1 - bounded))
}
