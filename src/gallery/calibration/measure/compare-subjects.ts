import type { GalleryTemplates } from '../read-templates.ts'
import { seededRandom } from '../../../lib/random/seeded-random.ts'
import { createHighestPairs } from './highest-pairs.ts'
import type { TemplateScorer } from './template-scorer.ts'

/** The pairs of templates of different subjects, and what was counted while they were compared. */
export type SubjectComparison = ReturnType<typeof compareSubjects>

/** Counts by `maskKey` of the two subjects' groups. */
export type GroupCounts = {
  readonly pairs: Float64Array
  /** For each threshold, the pairs that reach it. */
  readonly matches: readonly Float64Array[]
}

export type CompareSubjectsOptions = {
  readonly scorer: TemplateScorer
  /** For each subject, a bit for each of its compared groups. */
  readonly groupMasks: Uint8Array
  /** Scores at which pairs are counted by group. */
  readonly groupThresholds: readonly number[]
  /** Returns whether a pair of subjects is excluded. */
  readonly isExcluded: (subjectA: number, subjectB: number) => boolean
  /** More pairs than this are sampled. */
  readonly pairsMax?: number
  readonly onProgress: (done: number, total: number) => void
}

/** 50 million scores need 200 MB. */
const comparedPairsMax = 50_000_000

/** The sample of a gallery is the same in each run. */
const sampleSeed = 20_261_122

/** The share of the pairs that are kept with their subjects, enough for groups at a rate of 1e-3. */
const highestShare = 3e-3
const highestMin = 10_000

/** Compares all pairs of templates of different subjects, or a random sample of them. */
export function compareSubjects(templates: GalleryTemplates, options: CompareSubjectsOptions) {
  const { scorer, pairsMax = comparedPairsMax } = options
  /** The pairs of different subjects that the gallery has. */
  const pairsOfGallery = countPairs(templates)
  const isSampled = pairsOfGallery > pairsMax
  const count = Math.min(pairsOfGallery, pairsMax)
  const collected = createScoreCollector(templates, count, options)
  if (isSampled) sampledPairs(templates, count, (a, b) => collected.add(scorer.score(a, b), a, b))
  else allPairs(templates, scorer, collected.add)
  return { ...collected.result(), pairsOfGallery, isSampled }
}

/** Returns the index of the counts for two masks. */
export function maskKey(maskA: number, maskB: number): number {
  return (maskA << 8) | maskB
}

const maskKeys = 1 << 16

function countPairs({ subjects, subjectOf }: GalleryTemplates): number {
  const sizes = new Float64Array(subjects.length)
  for (const subject of subjectOf) sizes[subject] = (sizes[subject] ?? 0) + 1
  const pairs = (count: number): number => (count * (count - 1)) / 2
  return sizes.reduce((rest, size) => rest - pairs(size), pairs(subjectOf.length))
}

function allPairs(
  { subjectOf }: GalleryTemplates,
  { scoresBefore }: TemplateScorer,
  add: (score: number, a: number, b: number) => void,
): void {
  for (let a = 1; a < subjectOf.length; a++) {
    const scores = scoresBefore(a)
    for (let b = 0; b < a; b++) if (subjectOf[a] !== subjectOf[b]) add(scores[b] ?? 0, a, b)
  }
}

function sampledPairs(
  { subjectOf }: GalleryTemplates,
  count: number,
  add: (a: number, b: number) => void,
): void {
  const random = seededRandom(sampleSeed)
  const pick = (): number => Math.min(subjectOf.length - 1, Math.floor(random() * subjectOf.length))
  for (let added = 0; added < count;) {
    const [a, b] = [pick(), pick()]
    if (subjectOf[a] === subjectOf[b]) continue
    add(a, b)
    added++
  }
}

function createScoreCollector(
  templates: GalleryTemplates,
  count: number,
  { groupMasks, groupThresholds, isExcluded, onProgress }: CompareSubjectsOptions,
) {
  const { subjectOf } = templates
  const scores = new Float32Array(count)
  const excludedScores: number[] = []
  const pairs = new Float64Array(maskKeys)
  const matches = groupThresholds.map(() => new Float64Array(maskKeys))
  const highest = createHighestPairs(Math.max(highestMin, Math.ceil(count * highestShare)))
  const lowestThreshold = Math.min(...groupThresholds)
  const progressStep = Math.max(1, Math.ceil(count / 100))
  let [kept, done] = [0, 0]
  const keep = (score: number, a: number, b: number): void => {
    scores[kept++] = score
    highest.add(score, a, b)
    const key = maskKey(groupMasks[subjectOf[a] ?? 0] ?? 0, groupMasks[subjectOf[b] ?? 0] ?? 0)
    pairs[key] = (pairs[key] ?? 0) + 1
    if (score < lowestThreshold) return
    for (const [index, threshold] of groupThresholds.entries()) {
      const matchesAt = matches[index]
      if (score >= threshold && matchesAt) matchesAt[key] = (matchesAt[key] ?? 0) + 1
    }
  }
  return {
    add: (score: number, a: number, b: number): void => {
      if (isExcluded(subjectOf[a] ?? 0, subjectOf[b] ?? 0)) excludedScores.push(score)
      else keep(score, a, b)
      done++
      if (done % progressStep === 0 || done === count) onProgress(done, count)
    },
    result: () => ({
      /** The scores of all compared pairs except the excluded ones, ascending. */
      scores: scores.subarray(0, kept).sort(),
      /** The scores of the excluded pairs. */
      excludedScores: Float32Array.from(excludedScores),
      /** The highest pairs that are not excluded. */
      highest,
      /** The counted pairs, by the group masks of their subjects. */
      byGroups: { pairs, matches },
    }),
  }
}
