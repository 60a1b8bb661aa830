import { fitScoreTail } from '../calibration/measure/suspected-duplicates.ts'
import type { CalibrationSubject, GalleryTemplates } from '../calibration/read-templates.ts'
import {
  fmrAt,
  roundSimilarity,
  similarityAt,
  type Calibration,
} from '../calibration/similarity.ts'
import type { NearestOthers } from './nearest-others.ts'

export type SubjectName = Omit<CalibrationSubject, 'groups'>

export function subjectNameAt(subjects: GalleryTemplates['subjects'], index: number): SubjectName {
  const { subjectId = '', externalId = null } = subjects[index] ?? {}
  return { subjectId, externalId }
}

export type SimilarSubjects = ReturnType<typeof findSimilarSubjects>

export type SimilarOptions = {
  /** The table that the gallery uses. */
  readonly calibration: Calibration
  /** Whether the owner has confirmed that two subjects are different people. */
  readonly isDistinct: (subjectIdA: string, subjectIdB: string) => boolean
  readonly threshold: number
  /** Templates of other people. */
  readonly flagged: ReadonlySet<number>
}

type SimilarPair = { readonly subjects: readonly [number, number]; readonly score: number }

const lookAlikesMax = 3
const duplicatesMax = 1_000
/**
 * The tail overestimates: with this limit, 91 % of planted duplicates are listed, and one pair of
 * different people in two galleries of 217 subjects (`node eval/subjects/measure-gallery-check.ts`).
 */
const expectedMax = 10
/** The number of scores that the fit of the tail needs. */
const tailScoresMin = 10_000

/**
 * Finds pairs of subjects near the threshold. Those that match and are more similar than all but a few
 * pairs of different people are expected to be are duplicates, unless the owner has confirmed that they are
 * different people; all others are look-alikes.
 */
export function findSimilarSubjects(
  { subjects, subjectOf }: GalleryTemplates,
  others: NearestOthers,
  { calibration, isDistinct, threshold, flagged }: SimilarOptions,
) {
  const idsOf = (subject: number) => subjectNameAt(subjects, subject)
  const expectedAt = createExpectation(others, calibration)
  const isDuplicate = ({ subjects: [a, b], score }: SimilarPair): boolean =>
    similarityAt(score, calibration) >= threshold &&
    expectedAt(score) < expectedMax &&
    !isDistinct(idsOf(a).subjectId, idsOf(b).subjectId)
  const pairs = bestPairs(others, subjectOf, flagged)
  const [duplicates, lookAlikes] = [pairs.filter(isDuplicate), pairs.filter((p) => !isDuplicate(p))]
  const [ofDuplicates, ofLookAlikes] = [indexPairs(duplicates), indexPairs(lookAlikes)]
  const similarityOf = (score: number) => roundSimilarity(similarityAt(score, calibration))
  /** `rate` is the share of the comparisons of different people that reach the similarity. */
  const toLookAlike = (subject: number, score: number) => {
    const similarity = similarityOf(score)
    return { ...idsOf(subject), similarity, rate: fmrAt(similarity) }
  }
  return {
    /** Pairs of subjects that are probably one person. */
    duplicates: duplicates.slice(0, duplicatesMax).map(({ subjects: [a, b], score }) => ({
      subjectA: idsOf(a),
      subjectB: idsOf(b),
      similarity: similarityOf(score),
      /** How many pairs of different people of this gallery are expected to be so similar. */
      expected: expectedAt(score),
    })),
    /** @param indexes of the templates of the subject. */
    of: (subject: number, indexes: readonly number[]) => {
      const near = (ofLookAlikes.get(subject) ?? []).slice(0, lookAlikesMax)
      const [nearest = -1] = indexes
        .filter((index) => !flagged.has(index))
        .toSorted((x, y) => (others.scores[y] ?? 0) - (others.scores[x] ?? 0))
      const [other = -1, score = 0] = [others.nearest[nearest], others.scores[nearest]]
      const listed = near.map(({ subjects: [a, b], score: best }) =>
        toLookAlike(a === subject ? b : a, best),
      )
      return {
        isDuplicate: ofDuplicates.has(subject),
        isLookAlike: near.length > 0,
        /** The most similar ones near the threshold, at most three; at least the nearest. */
        lookAlikes: listed.length > 0 || other < 0 ? listed : [toLookAlike(other, score)],
      }
    },
  }
}

/** Returns a function: how many pairs of different people are expected to reach a score. */
function createExpectation({ sample, compared }: NearestOthers, calibration: Calibration) {
  if (sample.length < tailScoresMin)
    return (score: number) => compared * fmrAt(similarityAt(score, calibration))
  const tail = fitScoreTail(sample)
  return (score: number) => (tail.expectedAt(score) * compared) / sample.length
}

/**
 * Returns the best score of each pair of subjects, the highest first. A subject with pictures of other
 * people is similar to them, so it is compared only by its right pictures.
 */
function bestPairs({ pairs }: NearestOthers, subjectOf: Int32Array, flagged: ReadonlySet<number>) {
  const best = new Map<string, SimilarPair>()
  const mixed = new Set([...flagged].map((index) => subjectOf[index]))
  for (const { a, b, score } of pairs) {
    if (flagged.has(a) || mixed.has(b)) continue
    const own = subjectOf[a] ?? 0
    const subjects = own < b ? ([own, b] as const) : ([b, own] as const)
    const key = subjects.join(' ')
    if (!best.has(key)) best.set(key, { subjects, score })
  }
  return [...best.values()]
}

/** Returns the pairs of each subject. */
function indexPairs(pairs: readonly SimilarPair[]): ReadonlyMap<number, readonly SimilarPair[]> {
  const bySubject = new Map<number, SimilarPair[]>()
  for (const pair of pairs)
    for (const subject of pair.subjects)
      bySubject.set(subject, [...(bySubject.get(subject) ?? []), pair])
  return bySubject
}
