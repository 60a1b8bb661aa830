import { scoreOf } from '../../gallery/calibration/similarity.ts'
import type { Template } from '../../vision/image-analysis.ts'

/** How two templates are scored; higher is more alike. */
export type Scorer = (a: Template, b: Template) => number

/** `corrected` is what the service uses; `raw` is −distance² alone, to see what density brings. */
export const scorers = {
  corrected: scoreOf,
  raw: (a, b) => scoreOf({ ...a, density: 0 }, { ...b, density: 0 }),
} as const satisfies Record<string, Scorer>

/** Scores of pairs of one person and of pairs of two, each rising. */
export type PairScores = { readonly genuine: Float32Array; readonly impostor: Float32Array }

/** A face whose person is known. */
export type PersonTemplate = { readonly person: string; readonly template: Template }

/** A set of this size makes two hundred million pairs, 800 MB. */
const facesMax = 20_000

/** Scores every face against every other, once each. */
export function scoreAllPairs(
  faces: readonly PersonTemplate[],
  score: Scorer,
  onProgress: (done: number, total: number) => void = () => undefined,
): PairScores {
  if (faces.length > facesMax) throw new Error(`more than ${facesMax} faces: take a smaller set`)
  const total = (faces.length * (faces.length - 1)) / 2
  const genuine: number[] = []
  const impostor = new Float32Array(total)
  let impostors = 0
  for (const [index, a] of faces.entries()) {
    for (const b of faces.slice(0, index)) {
      const value = score(a.template, b.template)
      if (a.person === b.person) genuine.push(value)
      else impostor[impostors++] = value
    }
    onProgress(genuine.length + impostors, total)
  }
  return {
    genuine: Float32Array.from(genuine).sort(),
    impostor: impostor.slice(0, impostors).sort(),
  }
}
