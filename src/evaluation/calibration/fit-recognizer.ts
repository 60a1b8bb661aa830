import type { Calibration } from '../../gallery/calibration/similarity.ts'
import { buildCalibration } from './build-calibration.ts'
import type { CalibrationSet } from './build-calibration.ts'
import { scorers } from '../verification/pair-scores.ts'
import type { PersonTemplate, PairScores } from '../verification/pair-scores.ts'
import { mixCohort } from './mix-cohort.ts'
import { scoreHeldOut, foldsByPerson } from './held-out-scores.ts'
import { cohortRowCount, learnDensity, neighbourCount } from './learn-density.ts'
import { seededRandom } from '../seeded-random.ts'

/** What an installed recognizer needs before it may serve. */
export type RecognizerFit = {
  /** Strangers mixed of all people of the set: rows × dimensions. */
  readonly cohort: Float32Array
  readonly neighbours: number
  readonly calibration: Calibration
  /** Of all pairs, each by a cohort without either person. */
  readonly heldOut: PairScores
}

/** Each cohort of the table learns from six of them. */
const foldCount = 8
const seed = 1

/**
 * Makes the cohort of all people and the table of similarities of `faces`, whose templates need no
 * density yet. The table is measured with cohorts that neither person of a pair is in: with people
 * who are, all scores would be lower.
 *
 * @throws Error when the pairs of strangers are too few.
 */
export function fitRecognizer(
  faces: readonly PersonTemplate[],
  about: CalibrationSet,
  onProgress: (done: number, total: number) => void,
): RecognizerFit {
  const folds = foldsByPerson(faces, foldCount, seed)
  const learn = learnDensity(about.modelId, ({ template }: PersonTemplate) => template.vector)
  const { identical, ...heldOut } = scoreHeldOut(folds, learn, scorers.corrected, onProgress)
  const table = buildCalibration(heldOut, identical, about)
  const people = faces.map(({ person }) => person)
  const vectors = faces.map(({ template }) => template.vector)
  const { rows: cohort } = mixCohort(vectors, people, cohortRowCount, seededRandom(seed))
  return { cohort, neighbours: neighbourCount, calibration: table, heldOut }
}
