import { concatenate } from '../../lib/density/vectors.ts'
import type { Calibration } from '../../gallery/calibration/similarity.ts'
import { buildCalibration } from '../../gallery/calibration/measure/build-calibration.ts'
import type { CalibrationSet } from '../../gallery/calibration/measure/build-calibration.ts'
import { shareAbove } from '../../gallery/calibration/measure/sorted-scores.ts'
import { scoreAllPairs, scorers } from '../verification/pair-scores.ts'
import type { PersonTemplate, PairScores } from '../verification/pair-scores.ts'
import { mixCohort } from './mix-cohort.ts'
import { scoreHeldOut, foldsByPerson } from './held-out-scores.ts'
import { cohortRowsOf, learnDensity, neighbourCount } from './learn-density.ts'
import type { TemplateLearner } from './learn-density.ts'
import { combineTemplates, splitTemplate } from '../../vision/embed/combine-recognizers.ts'
import { seededRandom } from '../../lib/random/seeded-random.ts'

/** The cohort and the calibration that an installed recognizer needs before it can be used. */
export type RecognizerFit = ReturnType<typeof fitRecognizer>

type RecognizerFitOptions = CalibrationSet & {
  readonly added?: Float32Array
  readonly combinedDimensions?: number | undefined
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
 *   none by default. `combinedDimensions`: the templates contain those of the built-in recognizer, with
 *   its density, before a vector of this length.
 * @throws Error when there are too few pairs of different people, or the templates do not distinguish
 *   people.
 */
export function fitRecognizer(
  faces: readonly PersonTemplate[],
  { added = new Float32Array(), combinedDimensions, ...set }: RecognizerFitOptions,
  onProgress: (done: number, total: number) => void,
) {
  const folds = foldsByPerson(faces, foldCount, seed)
  const partsOf = ({ template }: PersonTemplate) => splitTemplate(template, combinedDimensions)
  const installedOf = (face: PersonTemplate): Float32Array => partsOf(face).installed
  const learnInstalled = learnDensity(set.modelId, installedOf, added)
  const learn: TemplateLearner<PersonTemplate> = (samples) => {
    const toInstalled = learnInstalled(samples)
    return (face) => {
      const { builtin } = partsOf(face)
      const installed = toInstalled(face)
      return builtin ? combineTemplates(set.modelId, builtin, installed) : installed
    }
  }
  // Scores of all pairs, each with a cohort that contains neither person.
  const { identical, ...heldOut } = scoreHeldOut(folds, learn, scorers.corrected, onProgress)
  const calibration = buildCalibration(heldOut, identical, set)
  const people = faces.map(({ person }) => person)
  /** How many of the rows are mixtures. */
  const mixtures = cohortRowsOf(new Set(people).size)
  const { rows } = mixCohort(faces.map(installedOf), people, mixtures, seededRandom(seed))
  /** Mixtures of all people of the set, then the added rows: rows × dimensions. */
  const cohort = concatenate([rows, added])
  requireDistinction(heldOut, calibration)
  const templateOf = learn(faces)
  const final = faces.map((face) => ({ ...face, template: templateOf(face) }))
  /** Scores of the pairs of one person with the cohort of all people, ascending. */
  const inCohort = scoreAllPairs(final, scorers.corrected).genuine
  return { cohort, mixtures, neighbours: neighbourCount, calibration, heldOut, inCohort }
}

/** @throws Error when the templates contain nothing about the person, such as those of a constant. */
function requireDistinction({ genuine }: PairScores, { points: [point] }: Calibration): void {
  const tar = point ? shareAbove(genuine, point.score) : 0
  if (point && tar > point.fmr) return
  throw new Error(
    `the network does not distinguish people: at a false-match rate of ${point?.fmr} it matches ` +
      `${tar.toFixed(4)} of the pairs of one person; check the exported network and its input`,
  )
}
