import { mergeTemplates, spreadShares } from '../../lib/density/merge-templates.ts'
import { createHighestPairs } from '../calibration/measure/highest-pairs.ts'
import { createTemplateScorer } from '../calibration/measure/template-scorer.ts'
import type { GalleryTemplates } from '../calibration/read-templates.ts'

/** How similar the pictures of a gallery are to other subjects, merged as the search merges them. */
export type NearestOthers = ReturnType<typeof findNearestOthers>

export type NearestOthersOptions = {
  /** The subjects' templates, as indexes. */
  readonly bySubject: readonly (readonly number[])[]
  readonly fromScore: number
  readonly onProgress: (done: number, total: number) => void
}

/** Enough for three look-alikes of 30,000 subjects. */
const pairsMax = 100_000

/** Scores that describe the distribution; 4 MB. */
const sampleMax = 1_000_000

/** Compares each template with each other subject. */
export function findNearestOthers(
  templates: GalleryTemplates,
  { bySubject, fromScore, onProgress }: NearestOthersOptions,
) {
  const { subjectOf } = templates
  const [subjects, count] = [bySubject.length, subjectOf.length]
  const { scoresBefore } = createTemplateScorer(withMergedSubjects(templates, bySubject))
  /** For each template, the most similar other subject, and the score of both. */
  const nearest = new Int32Array(count).fill(-1)
  const best = new Float32Array(count).fill(-Infinity)
  const highest = createHighestPairs(pairsMax)
  /** The number of all scores, and a sample of them, ascending in the result. */
  const compared = count * Math.max(0, subjects - 1)
  const sample = new Float32Array(Math.min(compared, sampleMax))
  const sampleStep = Math.max(1, Math.floor(compared / sampleMax))
  let [seen, sampled] = [0, 0]
  for (let index = 0; index < count; index++) {
    const scores = scoresBefore(subjects + index, subjects)
    const own = subjectOf[index] ?? 0
    let [bestScore, bestSubject] = [-Infinity, -1]
    for (let other = 0; other < subjects; other++) {
      if (other === own) continue
      const score = scores[other] ?? 0
      if (score > bestScore) [bestScore, bestSubject] = [score, other]
      if (score >= fromScore) highest.add(score, index, other)
      if (seen++ % sampleStep === 0 && sampled < sample.length) sample[sampled++] = score
    }
    nearest[index] = bestSubject
    best[index] = bestScore
    onProgress(index + 1, count)
  }
  /** Pairs of a template `a` and another subject `b` that reach the score, the highest first. */
  const pairs = highest.from(fromScore)
  return { nearest, scores: best, pairs, sample: sample.subarray(0, sampled).sort(), compared }
}

/** Returns the merged templates of all subjects, followed by the templates. */
function withMergedSubjects(
  { modelId, vectors, densities, dimensions }: GalleryTemplates,
  bySubject: readonly (readonly number[])[],
) {
  const rows = new Float32Array(bySubject.length * dimensions + vectors.length)
  const vectorOf = (index: number) => vectors.subarray(index * dimensions, (index + 1) * dimensions)
  const merged = bySubject.map((indexes, subject) => {
    const own = indexes.map((index) => ({
      modelId,
      vector: vectorOf(index),
      density: densities[index] ?? 0,
    }))
    const { vector, density } = mergeTemplates(own, spreadShares.subject)
    rows.set(vector, subject * dimensions)
    return density
  })
  rows.set(vectors, bySubject.length * dimensions)
  return { vectors: rows, densities: Float64Array.from([...merged, ...densities]), dimensions }
}
