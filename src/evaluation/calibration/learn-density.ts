import { concatenate } from '../../lib/density/vectors.ts'
import { openDensityKernel } from '../../lib/density/density-kernel.ts'
import type { Template } from '../../vision/embed/template.ts'
import { seededRandom } from '../../lib/random/seeded-random.ts'
import { mixCohort } from './mix-cohort.ts'

/** Learns from `samples`; returns a function that creates templates, also for other people. */
export type TemplateLearner<S> = (samples: readonly S[]) => (sample: S) => Template

/** Nearest cohort rows that make up the density. 10 to 30 give equal results. */
export const neighbourCount = 15
/** Four times as many rows give no better results. */
export const cohortRowCount = 1000

/**
 * Learns a cohort of 1,000 mixtures and adds `rows` to it; the vectors themselves stay as `vectorOf`
 * returns them.
 */
export function learnDensity<S extends { readonly person: string }>(
  modelId: string,
  vectorOf: (sample: S) => Float32Array,
  rows: Float32Array = new Float32Array(),
): TemplateLearner<S> {
  return (samples) => {
    const people = samples.map(({ person }) => person)
    const mixed = mixCohort(samples.map(vectorOf), people, cohortRowCount, seededRandom(1))
    const dimensions = mixed.rows.length / cohortRowCount
    const cohort = concatenate([mixed.rows, rows])
    const measureDensity = openDensityKernel({ cohort, neighbours: neighbourCount }, dimensions)
    return (sample) => {
      const vector = vectorOf(sample)
      return { modelId, vector, density: measureDensity(vector) }
    }
  }
}
