import type { GalleryTemplates } from '../read-templates.ts'
import type { SubjectComparison } from './compare-subjects.ts'
import type { RankedPair } from './highest-pairs.ts'
import type { TemplateScorer } from './template-scorer.ts'

/** Two subjects that are probably one person. The numbers are indexes of subjects. */
export type SuspectedPair = {
  readonly subjectA: number
  readonly subjectB: number
  /** The highest score of their templates. */
  readonly score: number
  /** How many pairs of different people of this gallery are expected to reach the score. */
  readonly expected: number
}

/**
 * Number of pairs of different people that are expected to reach a score. Above its start, the
 * distribution of the scores is taken as exponential.
 */
export type ScoreTail = ReturnType<typeof fitScoreTail>

/** The share and the lowest number of pairs above the start of the tail. */
const tailShare = 5e-4
const tailPairsMin = 50

/**
 * Fits the tail to two ranks of the scores, below the highest pairs: duplicates are the highest pairs,
 * so a fit to them would hide them. The true distribution falls faster than an exponential one, so
 * the expected number is too high rather than too low.
 *
 * @param scores ascending, of at least 10,000 pairs.
 */
export function fitScoreTail(scores: Float32Array) {
  const rank = Math.max(tailPairsMin, Math.floor(tailShare * scores.length))
  const start = scores.at(-rank) ?? Infinity
  const lower = scores.at(-4 * rank) ?? start
  const scale = Math.max((start - lower) / Math.log(4), 1e-6)
  return {
    expectedAt: (score: number): number => rank * Math.exp((start - score) / scale),
    /** The score that fewer than one pair of different people is expected to reach. */
    suspicious: start + scale * Math.log(rank),
  }
}

/** Enough to read them one by one. */
const suspectedMax = 1_000

/**
 * Lists the pairs of subjects with a score that fewer than one pair of different people is expected to
 * reach, the highest first. In a gallery without duplicates, about one pair is listed.
 */
export function findSuspectedPairs(
  { subjectOf }: GalleryTemplates,
  { scores, highest }: SubjectComparison,
): SuspectedPair[] {
  const tail = fitScoreTail(scores)
  return bestBySubjects(highest.from(tail.suspicious), subjectOf)
    .map((pair) => ({ ...pair, expected: tail.expectedAt(pair.score) }))
    .filter(({ expected }) => expected < 1)
    .slice(0, suspectedMax)
}

/** @param pairs the highest first. */
function bestBySubjects(pairs: readonly RankedPair[], subjectOf: Int32Array) {
  const best = new Map<string, Omit<SuspectedPair, 'expected'>>()
  for (const { score, a, b } of pairs) {
    const [subjectA = 0, subjectB = 0] = [subjectOf[a], subjectOf[b]].toSorted(
      (x = 0, y = 0) => x - y,
    )
    const key = `${subjectA} ${subjectB}`
    if (!best.has(key)) best.set(key, { subjectA, subjectB, score })
  }
  return [...best.values()]
}

/** Returns the scores of all templates of two subjects. */
export function scoresOfSubjects(
  { subjectOf }: GalleryTemplates,
  { score }: TemplateScorer,
  { subjectA, subjectB }: Pick<SuspectedPair, 'subjectA' | 'subjectB'>,
): number[] {
  const ofSubject = (subject: number): number[] => {
    const indexes: number[] = []
    let index = subjectOf.indexOf(subject)
    while (index >= 0) {
      indexes.push(index)
      index = subjectOf.indexOf(subject, index + 1)
    }
    return indexes
  }
  const others = ofSubject(subjectB)
  // In the order in which all pairs are compared, so that the results are equal to the last bit.
  return ofSubject(subjectA).flatMap((a) =>
    others.map((b) => score(Math.max(a, b), Math.min(a, b))),
  )
}

/** Returns the ascending scores without one occurrence of each removed score that is among them. */
export function withoutScores(scores: Float32Array, removed: readonly number[]): Float32Array {
  const counts = new Map<number, number>()
  for (const score of removed) counts.set(score, (counts.get(score) ?? 0) + 1)
  return scores.filter((score) => {
    const count = counts.get(score) ?? 0
    if (count > 0) counts.set(score, count - 1)
    return count === 0
  })
}
