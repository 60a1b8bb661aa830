import { builtinPack } from '../../models/builtin.ts'
import { centre, squareAround } from '../geometry.ts'
import { providersOf } from '../sessions.ts'
import type { Sessions } from '../sessions.ts'
import { output } from '../session.ts'
import { chipOver } from '../similarity.ts'
import { toTensor } from '../tensor.ts'
import { faceBox } from './face-box.ts'
import type { SpoofJudge } from './liveness.ts'

const { liveness } = builtinPack.models
const { recipe } = liveness

/**
 * The built-in network at six crops of the face, combined by a logistic fit. A weak signal: see
 * docs/liveness.md for what it was fitted on and how often it is wrong.
 */
export async function openBuiltinJudge(sessions: Sessions): Promise<SpoofJudge> {
  const session = await sessions.builtin('liveness')
  const { input } = session
  const id = providersOf([liveness])
  return {
    id,
    liveMin: recipe.liveMin,
    spoofMax: recipe.spoofMax,
    contextMin: recipe.contextMin,
    async judge(face, { pyramid }) {
      const box = faceBox(face)
      const longer = Math.max(box.width, box.height)
      const parts: Record<string, number> = {}
      let sum: number = recipe.bias
      for (const { cropFactor, weight } of recipe.crops) {
        const square = squareAround(centre(box), cropFactor * longer)
        const chip = await pyramid.sample(chipOver(square, input), input)
        const share = output(await session.run(toTensor(chip, input)), 'probabilities')[0] ?? 0
        parts[`${id} at ${cropFactor}`] = share
        sum += weight * logOdds(share)
      }
      return { score: 1 / (1 + Math.exp(-sum)), parts }
    },
  }
}

/** Beyond one in a thousand the network's own certainty says nothing more. */
export function logOdds(share: number): number {
  const bounded = Math.min(0.999, Math.max(0.001, share))
  return Math.log(bounded / (1 - bounded))
}
