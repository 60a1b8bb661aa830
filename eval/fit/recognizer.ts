import type { Calibration } from '../../src/gallery/similarity.ts'
import { calibrate } from '../compare/calibrate.ts'
import type { CalibrationSet } from '../compare/calibrate.ts'
import { scorers } from '../compare/scores.ts'
import type { Face, Scores } from '../compare/scores.ts'
import { mixCohort } from './cohort.ts'
import { cohortRows, neighbours } from './fit.ts'
import { heldOutScores, peopleFolds } from './held-out.ts'
import { withDensity } from './learners.ts'
import { seededRandom } from './random.ts'

/** What an installed recognizer needs before it may serve. */
export type RecognizerFit = {
  /** Strangers mixed of all people of the set: rows × dimensions. */
  readonly cohort: Float32Array
  readonly neighbours: number
  readonly table: Calibration
  /** Of all pairs, each by a cohort without either person. */
  readonly heldOut: Scores
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
  faces: readonly Face[],
  about: CalibrationSet,
  onProgress: (done: number, total: number) => void,
): RecognizerFit {
  const folds = peopleFolds(faces, foldCount, seed)
  const learn = withDensity(about.modelId, ({ template }: Face) => template.vector)
  const { identical, ...heldOut } = heldOutScores(folds, learn, scorers.corrected, onProgress)
  const table = calibrate(heldOut, identical, about)
  const people = faces.map(({ person }) => person)
  const vectors = faces.map(({ template }) => template.vector)
  const { rows: cohort } = mixCohort(vectors, people, cohortRows, seededRandom(seed))
  return { cohort, neighbours, table, heldOut }
}
