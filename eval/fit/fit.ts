import type { TemplateModel } from '../../src/models/template.ts'
import type { Descriptor } from '../../src/vision/describe.ts'
import { fuse, project } from '../../src/vision/template.ts'
import { mixCohort } from './cohort.ts'
import { principalAxes } from './principal-axes.ts'
import { seededRandom } from './random.ts'
import { meanOf } from './vectors.ts'

/** Everything that is learnt from pictures, and what the cohort keeps away from them. */
export type Fit = Omit<TemplateModel, 'modelId'> & { readonly cohortNearest: number }

/** One picture of a known person. */
export type Sample = { readonly person: string; readonly descriptor: Descriptor }

export type FitOptions = {
  /** Of the template; at most one less than there are samples. */
  readonly dimensions: number
  /** Of the axes' start and the cohort's mixtures. */
  readonly seed: number
}

/** Twice dlib beside faceres of length 1: chosen on LFW's fold 1; 1.5 does as well. */
export const dlibWeight = 2
/** Ten to thirty do as well. */
export const neighbours = 15
/** Four times as many do no better. */
export const cohortRows = 1000

/** Fits a template model on `samples`. */
export function fitTemplate(samples: readonly Sample[], { dimensions, seed }: FitOptions): Fit {
  const centre = meanOf(samples.map(({ descriptor }) => descriptor.faceres))
  const fused = samples.map(({ descriptor }) => fuse(descriptor, centre, dlibWeight))
  const mean = meanOf(fused)
  const axes = principalAxes(fused, mean, dimensions, seededRandom(seed))
  const vectors = fused.map((vector) => project(vector, { mean, axes }))
  const people = samples.map(({ person }) => person)
  const { rows, nearest } = mixCohort(vectors, people, cohortRows, seededRandom(seed))
  return { dlibWeight, neighbours, centre, mean, axes, cohort: rows, cohortNearest: nearest }
}
