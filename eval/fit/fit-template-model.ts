import { cohortRowCount, neighbourCount } from '../../src/evaluation/calibration/learn-density.ts'
import { meanOf, mixCohort } from '../../src/evaluation/calibration/mix-cohort.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import type { TemplateModel } from '../../src/models/template/template-model.ts'
import {
  fuseEmbeddings,
  projectToAxes,
  type NetworkEmbeddings,
} from '../../src/vision/embed/create-template.ts'
import { principalAxes } from './principal-axes.ts'

/** A template model without its id, and the least squared distance of a cohort row to an image. */
export type TemplateModelFit = Omit<TemplateModel, 'modelId'> & { readonly cohortNearest: number }

/** The embeddings of one image and the person it shows. */
export type PersonEmbedding = { readonly person: string; readonly embedding: NetworkEmbeddings }

export type TemplateFitOptions = {
  /** Template dimensions; at most one less than the number of samples. */
  readonly dimensions: number
  /** Seed of the start axes and of the cohort mixtures. */
  readonly seed: number
}

/** The dlib embedding counts twice a faceres embedding of length 1. Chosen on LFW fold 1; 1.5 is as good. */
export const dlibWeight = 2

/** Fits a template model on `samples`. */
export function fitTemplateModel(
  samples: readonly PersonEmbedding[],
  { dimensions, seed }: TemplateFitOptions,
): TemplateModelFit {
  const centre = meanOf(samples.map(({ embedding }) => embedding.faceres))
  const fused = samples.map(({ embedding }) => fuseEmbeddings(embedding, centre, dlibWeight))
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
