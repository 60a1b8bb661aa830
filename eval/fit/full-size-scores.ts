import { createProgressBar } from '../../src/cli/command.ts'
import { scoreHeldOut } from '../../src/evaluation/calibration/held-out-scores.ts'
import type { TemplateLearner } from '../../src/evaluation/calibration/learn-density.ts'
import { scoreAtFar } from '../../src/gallery/calibration/measure/sorted-scores.ts'
import { scorers } from '../../src/evaluation/verification/pair-scores.ts'
import type { PairScores } from '../../src/evaluation/verification/pair-scores.ts'
import type { Calibration } from '../../src/gallery/calibration/similarity.ts'

export type CalibrationScores = {
  readonly scores: PairScores
  /** Scores of templates against themselves. */
  readonly identical: readonly number[]
  /** Moves the scores of a table from the models that learn from six folds to one of all folds. */
  readonly adjust: (table: Calibration) => Calibration
}

/**
 * Scores every pair with a model that has not learnt from either person, and estimates how much lower
 * the scores of different people are with the shipped model, which learns from all people.
 *
 * The axes of a model that learns from fewer people separate different people less well. Each model of the
 * cross-fit learns from n − 2 of n folds; the shipped model learns from all n. With an error that falls
 * as 1 over the number of people, the remaining difference is 1/(n − 2) − 1/n, against 1/(n − 2) for
 * the difference between half as many folds and n − 2. It is measured with a second cross-fit whose
 * models learn from half of those people.
 */
export function scoreForCalibration<S extends { readonly person: string }>(
  folds: readonly (readonly S[])[],
  learn: TemplateLearner<S>,
): CalibrationScores {
  const score = (learner: TemplateLearner<S>, title: string) => {
    const bar = createProgressBar(title)
    const scored = scoreHeldOut(folds, learner, scorers.corrected, bar.update)
    bar.end()
    return scored
  }
  const { identical, ...scores } = score(learn, 'models')
  const half = score((samples) => learn(firstHalf(samples)), 'models of half of the people')
  const share = 2 / folds.length
  return { scores, identical, adjust: (table) => adjustTable(table, { scores, half, share }) }
}

/** The samples of the first half of the people. */
function firstHalf<S extends { readonly person: string }>(samples: readonly S[]): S[] {
  const people = [...new Set(samples.map(({ person }) => person))]
  const first = new Set(people.slice(0, Math.ceil(people.length / 2)))
  return samples.filter(({ person }) => first.has(person))
}

type Adjustment = {
  readonly scores: PairScores
  readonly half: PairScores
  readonly share: number
}

/** Extrapolated rates are moved as far as the smallest counted rate. */
function adjustTable(table: Calibration, { scores, half, share }: Adjustment): Calibration {
  const counted = table.points.filter(({ source }) => source === 'counted')
  const shifts = new Map(
    counted.map(({ fmr }) => {
      const difference = scoreAtFar(half.impostor, fmr) - scoreAtFar(scores.impostor, fmr)
      return [fmr, share * difference]
    }),
  )
  const last = [...shifts.values()].at(-1) ?? 0
  const points = table.points.map((point) => {
    const shift = shifts.get(point.fmr) ?? last
    console.log(`FMR ${point.fmr.toExponential(0)}: ${shift.toFixed(4)} lower for all people`)
    return { ...point, score: Math.round(1e4 * (point.score - shift)) / 1e4 }
  })
  const method =
    `${table.method}; each score lowered by ${share} of its difference to models of half as many ` +
    'people, because the shipped model learns from more people than those of the table'
  return { ...table, points, method }
}
