import {
  autoThreshold,
  similarityAt,
  type Calibration,
} from '../../gallery/calibration/similarity.ts'
import { autoLevels, decisionRates, fixedLevels, type DecisionLevel } from './decision-levels.ts'
import { createExtremePairs, type ExtremePair, type ScoredIndexes } from './extreme-pairs.ts'
import { createGroupCounts } from './group-counts.ts'
import { gallerySizesOf } from './measure-search.ts'
import { scoreAllPairs, scorers } from './pair-scores.ts'
import type {
  EvaluatedFace,
  VerificationOptions,
  VerificationReport,
  VerificationResult,
} from './verification-report.ts'

/** The parts of the report that are counted while the pairs are scored. */
type PairReport = Pick<
  VerificationReport,
  'thresholds' | 'worstImpostors' | 'worstGenuines' | 'groups'
>

/**
 * Scores all pairs of faces.
 *
 * @throws Error when there is no pair of one person or no pair of two people.
 */
export function scoreFaces(
  faces: readonly EvaluatedFace[],
  { calibration, groups, onProgress = () => undefined }: VerificationOptions,
): { readonly scores: VerificationResult['scores']; readonly pairReport: PairReport } {
  const counted = groups && createGroupCounts(groups, faces, fixedLevels(calibration))
  const [impostors, genuines] = [createExtremePairs('highest'), createExtremePairs('lowest')]
  const onPair = (a: number, b: number, score: number): void => {
    const extremes = faces[a]?.person === faces[b]?.person ? genuines : impostors
    extremes.add(a, b, score)
    counted?.add(a, b, score)
  }
  const scores = {
    corrected: scoreAllPairs(faces, scorers.corrected, { onProgress, onPair }),
    raw: scoreAllPairs(faces, scorers.raw),
  }
  if (scores.raw.genuine.length === 0 || scores.raw.impostor.length === 0)
    throw new Error('the set needs two people and two images of one of them')
  const toExtremePair = ({ a, b, score }: ScoredIndexes): ExtremePair => ({
    fileA: faces[a]?.file ?? '',
    fileB: faces[b]?.file ?? '',
    score,
    similarity: calibration ? similarityAt(score, calibration) : null,
  })
  const pairReport = {
    thresholds: decisionRates(scores.corrected, levelsOf(faces, calibration)),
    worstImpostors: impostors.list().map(toExtremePair),
    worstGenuines: genuines.list().map(toExtremePair),
    groups: counted?.report() ?? null,
  }
  return { scores, pairReport }
}

/** Galleries with the same automatic threshold are one level, that of the largest. */
function levelsOf(
  faces: readonly EvaluatedFace[],
  calibration: Calibration | undefined,
): DecisionLevel[] {
  const sizes = gallerySizesOf(new Set(faces.map(({ person }) => person)).size)
  const distinct = sizes.filter((size, index) => {
    const next = sizes[index + 1]
    return next === undefined || autoThreshold(next) !== autoThreshold(size)
  })
  return [...fixedLevels(calibration), ...distinct.flatMap((size) => autoLevels(calibration, size))]
}
