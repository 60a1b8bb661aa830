import type { Calibration } from '../../gallery/calibration/similarity.ts'
import { buildCalibration } from '../../gallery/calibration/measure/build-calibration.ts'
import type { CalibrationSet } from '../../gallery/calibration/measure/build-calibration.ts'
import { scorers, type PersonTemplate, type PairScores } from '../verification/pair-scores.ts'
import { concatenate, mixCohort } from './mix-cohort.ts'
import { scoreHeldOut, foldsByPerson } from './held-out-scores.ts'
import { cohortRowCount, learnDensity, neighbourCount } from './learn-density.ts'
import { seededRandom } from '../../lib/random/seeded-random.ts'

/** The cohort and the calibration that an installed recognizer needs before it can be used. */
export type RecognizerFit = {
  /** Mixtures of all people of the set, and the added rows: rows × dimensions. */
  readonly cohort: Float32Array
  readonly neighbours: number
  readonly calibration: Calibration
  /** Scores of all pairs, each with a cohort that contains neither person. */
  readonly heldOut: PairScores
}

/** Each cohort for the calibration is mixed from six folds. */
const foldCount = 8
const seed = 1

/**
 * Mixes the cohort of all people and builds the calibration table from `faces`. Their templates need
 * no density yet. Each pair is scored with a cohort that contains neither person; a cohort with one
 * of them would lower all scores.
 *
 * @param set the description of the set. `added`: rows of other people for every cohort, rows × dimensions;
 *   none by default.
 * @throws Error when there are too few pairs of different people.
 */
export function fitRecognizer(
  faces: readonly PersonTemplate[],
  { added = new Float32Array(), ...set }: CalibrationSet & { readonly added?: Float32Array },
  onProgress: (done: number, total: number) => void,
): RecognizerFit {
  const folds = foldsByPerson(faces, foldCount, seed)
  const learn = learnDensity(set.modelId, ({ template }: PersonTemplate) => template.vector, added)
  const { identical, ...heldOut } = scoreHeldOut(folds, learn, scorers.corrected, onProgress)
  const calibration = buildCalibration(heldOut, identical, set)
  const people = faces.map(({ person }) => person)
  const vectors = faces.map(({ template }) => template.vector)
  const { rows } = mixCohort(vectors, people, cohortRowCount, seededRandom(seed))
  return { cohort: concatenate([rows, added]), neighbours: neighbourCount, calibration, heldOut }
}
