import { scoreOf } from '../../gallery/calibration/similarity.ts'
import type { Template } from '../../vision/embed/template.ts'
import { countPairs, visitAllPairs, visitSampledPairs, type PairCounts } from './visit-pairs.ts'

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

/** Up to this number of pairs, 10,000 faces, every pair is scored; larger sets are sampled. */
const pairsMax = 50_000_000

export type ScoringOptions = {
  readonly onProgress?: (done: number, total: number) => void
  /** Called for each scored pair with the indexes of its faces. */
  readonly onPair?: (a: number, b: number, score: number) => void
  readonly pairsMax?: number
}

/**
 * Scores every pair of faces once. If there are more than `pairsMax` pairs, it scores that number of
 * them, spread evenly over all pairs, and up to `pairsMax` genuine pairs, all of them in most sets.
 * The scores need 4 bytes per pair, at most 400 MB.
 */
export function scoreAllPairs(
  faces: readonly PersonTemplate[],
  score: Scorer,
  options: ScoringOptions = {},
): PairScores {
  const { onProgress = () => undefined, onPair, pairsMax: limit = pairsMax } = options
  const possible = countPairs(faces)
  const isSampled = possible.genuine + possible.impostor > limit
  const counts = { genuine: 0, impostor: 0 }
  const scores = {
    genuine: new Float32Array(Math.min(possible.genuine, limit)),
    impostor: new Float32Array(Math.min(possible.impostor, limit)),
  }
  const total = scores.genuine.length + scores.impostor.length
  const visit = (indexA: number, indexB: number): void => {
    const [a, b] = [faces[indexA], faces[indexB]]
    if (!a || !b) throw new RangeError(`there is no pair ${indexA}, ${indexB}`)
    const value = Math.fround(score(a.template, b.template))
    const kind = a.person === b.person ? 'genuine' : 'impostor'
    scores[kind][counts[kind]++] = value
    onPair?.(indexA, indexB, value)
    const done = counts.genuine + counts.impostor
    if (done % progressStep === 0 || done === total) onProgress(done, total)
  }
  if (isSampled) visitSampledPairs(faces, limit, visit)
  else visitAllPairs(faces.length, visit)
  return {
    genuine: scores.genuine.subarray(0, counts.genuine).sort(),
    impostor: scores.impostor.subarray(0, counts.impostor).sort(),
  }
}

/** Pairs between two updates of the progress. */
const progressStep = 10_000

/** Returns the number of possible pairs if `scoreAllPairs` samples them, otherwise null. */
export function possiblePairsIfSampled(faces: readonly PersonTemplate[]): PairCounts | null {
  const possible = countPairs(faces)
  return possible.genuine + possible.impostor > pairsMax ? possible : null
}
