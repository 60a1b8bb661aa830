import { scoreOf } from '../../gallery/calibration/similarity.ts'
import type { Template } from '../../vision/embed/template.ts'

/** Scores two templates; a higher score means more similar. */
export type Scorer = (a: Template, b: Template) => number

/** `corrected` is the score of the service; `raw` is −distance² alone, to show the effect of density. */
export const scorers = {
  corrected: scoreOf,
  raw: (a, b) => scoreOf({ ...a, density: 0 }, { ...b, density: 0 }),
} as const satisfies Record<string, Scorer>

/** Scores of pairs of one person (`genuine`) and of two people (`impostor`), both ascending. */
export type PairScores = { readonly genuine: Float32Array; readonly impostor: Float32Array }

/** A template and the person it belongs to. */
export type PersonTemplate = { readonly person: string; readonly template: Template }

/** A set of this size has two hundred million pairs and needs 800 MB. */
const facesMax = 20_000

/** Scores every pair of faces once. @throws Error when there are more than 20,000 faces. */
export function scoreAllPairs(
  faces: readonly PersonTemplate[],
  score: Scorer,
  onProgress: (done: number, total: number) => void = () => undefined,
): PairScores {
  if (faces.length > facesMax)
    throw new Error(`the set has more than ${facesMax} faces: use a smaller set`)
  const total = (faces.length * (faces.length - 1)) / 2
  const genuine: number[] = []
  const impostor = new Float32Array(total)
  let impostorCount = 0
  for (const [index, a] of faces.entries()) {
    for (const b of faces.slice(0, index)) {
      const value = score(a.template, b.template)
      if (a.person === b.person) genuine.push(value)
      else impostor[impostorCount++] = value
    }
    onProgress(genuine.length + impostorCount, total)
  }
  return {
    genuine: Float32Array.from(genuine).sort(),
    impostor: impostor.slice(0, impostorCount).sort(),
  }
}
