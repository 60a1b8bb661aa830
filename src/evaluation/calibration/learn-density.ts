import { concatenate } from '../../lib/density/vectors.ts'
import { openDensityKernel } from '../../lib/density/density-kernel.ts'
import type { Template } from '../../vision/embed/template.ts'
import { seededRandom } from '../../lib/random/seeded-random.ts'
import { mixCohort, peoplePerRow } from './mix-cohort.ts'

/** Learns from `samples`; returns a function that creates templates, also for other people. */
export type TemplateLearner<S> = (samples: readonly S[]) => (sample: S) => Template

/** Nearest cohort rows that make up the density. 10 to 30 give equal results. */
export const neighbourCount = 15
/** Four times as many rows give no better results. */
export const cohortRowCount = 1000

/**
 * Returns the number of rows with which each of `people` people is part of one row on average. A row
 * is near to its people and lowers all their scores: with 1,000 rows of 100 people, 47 % of their pairs
 * reach the score of 1e-4, and with 33 rows 94 % (`node eval/recognizers/measure-cohort-people.ts`).
 */
export function cohortRowsOf(people: number): number {
  const rows = Math.round(people / peoplePerRow)
  return Math.min(Math.max(rows, 2 * neighbourCount), cohortRowCount)
}

/** Learns a cohort of mixtures and adds `rows`; the vectors stay as `vectorOf` returns them. */
export function learnDensity<S extends { readonly person: string }>(
  modelId: string,
  vectorOf: (sample: S) => Float32Array,
  rows: Float32Array = new Float32Array(),
  rowCountOf: (people: number) => number = cohortRowsOf,
): TemplateLearner<S> {
  return (samples) => {
    const people = samples.map(({ person }) => person)
    const rowCount = rowCountOf(new Set(people).size)
    const mixed = mixCohort(samples.map(vectorOf), people, rowCount, seededRandom(1))
    const dimensions = mixed.rows.length / rowCount
    const cohort = concatenate([mixed.rows, rows])
    const measureDensity = openDensityKernel({ cohort, neighbours: neighbourCount }, dimensions)
    return (sample) => {
      const vector = vectorOf(sample)
      return { modelId, vector, density: measureDensity(vector) }
    }
  }
}
