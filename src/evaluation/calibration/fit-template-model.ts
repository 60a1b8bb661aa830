import type { TemplateModel } from '../../models/template/template-model.ts'
import type { NetworkEmbeddings } from '../../vision/embed/embed.ts'
import { fuseEmbeddings, projectToAxes } from '../../vision/embed/create-template.ts'
import { mixCohort } from './mix-cohort.ts'
import { principalAxes } from './principal-axes.ts'
import { seededRandom } from '../seeded-random.ts'
import { meanOf } from './vectors.ts'

/** Everything that is learnt from pictures, and what the cohort keeps away from them. */
export type TemplateModelFit = Omit<TemplateModel, 'modelId'> & { readonly cohortNearest: number }

/** One picture of a known person. */
export type PersonEmbedding = { readonly person: string; readonly embedding: NetworkEmbeddings }

export type TemplateFitOptions = {
  /** Of the template; at most one less than there are samples. */
  readonly dimensions: number
  /** Of the axes' start and the cohort's mixtures. */
  readonly seed: number
}

/** Twice dlib beside faceres of length 1: chosen on LFW's fold 1; 1.5 does as well. */
export const dlibWeight = 2
/** Ten to thirty do as well. */
export const neighbourCount = 15
/** Four times as many do no better. */
export const cohortRowCount = 1000

/** Fits a template model on `samples`. */
export function fitTemplateModel(
  samples: readonly PersonEmbedding[],
  { dimensions, seed }: TemplateFitOptions,
): TemplateModelFit {
  const centre = meanOf(samples.map(({ embedding: descriptor }) => descriptor.faceres))
  const fused = samples.map(({ embedding: descriptor }) =>
    fuseEmbeddings(descriptor, centre, dlibWeight),
  )
  const mean = meanOf(fused)
  const axes = principalAxes(fused, mean, dimensions, seededRandom(seed))
  const vectors = fused.map((vector) => projectToAxes(vector, { mean, axes }))
  const people = samples.map(({ person }) => person)
  const { rows, nearest } = mixCohort(vectors, people, cohortRowCount, seededRandom(seed))
  return {
    dlibWeight,
    neighbours: neighbourCount,
    centre,
    mean,
    axes,
    cohort: rows,
    cohortNearest: nearest,
  }
}
