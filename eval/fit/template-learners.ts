import {
  cohortRowCount,
  learnDensity,
  type TemplateLearner,
} from '../../src/evaluation/calibration/learn-density.ts'
import { meanOf } from '../../src/evaluation/calibration/mix-cohort.ts'
import { concatenate } from '../../src/lib/density/vectors.ts'
import {
  openTemplateCreator,
  fuseEmbeddings,
  projectToAxes,
} from '../../src/vision/embed/create-template.ts'
import {
  dlibWeight,
  fitTemplateModel,
  type PersonEmbedding,
  type TemplateFitOptions,
} from './fit-template-model.ts'

/** Learns the template that ships, with any number of dimensions. */
export function learnReduced(
  modelId: string,
  options: TemplateFitOptions,
): TemplateLearner<PersonEmbedding> {
  return (samples) => {
    const createTemplate = openTemplateCreator({ modelId, ...fitTemplateModel(samples, options) })
    return ({ embedding }) => createTemplate(embedding)
  }
}

/**
 * Learns the template that ships, with a cohort that `mixtures` extend: fused vectors before the
 * projection. Each model projects them to its own axes. They were made with the centre of the shipped
 * model; the centres of the folds are 3 % of the length of a vector away from it, which is neglected.
 */
export function learnExtended(
  modelId: string,
  options: TemplateFitOptions,
  mixtures: readonly Float32Array[],
): TemplateLearner<PersonEmbedding> {
  return (samples) => {
    const fit = fitTemplateModel(samples, options)
    const added = concatenate(mixtures.map((row) => projectToAxes(row, fit)))
    const cohort = Float32Array.from([...fit.cohort, ...added])
    const createTemplate = openTemplateCreator({ ...fit, modelId, cohort })
    return ({ embedding }) => createTemplate(embedding)
  }
}

/** Learns a template of both networks with all 1,152 dimensions. */
export const learnUnreduced: TemplateLearner<PersonEmbedding> = (samples) => {
  const centre = meanOf(samples.map(({ embedding }) => embedding.faceres))
  const fuse = ({ embedding }: PersonEmbedding) => fuseEmbeddings(embedding, centre, dlibWeight)
  return learnDensity('learnt', fuse, undefined, () => cohortRowCount)(samples)
}

/** Learns a template of the first network only, 128 dimensions. */
export const learnDlibOnly: TemplateLearner<PersonEmbedding> = learnDensity(
  'learnt',
  ({ embedding }: PersonEmbedding) => embedding.dlib,
  undefined,
  () => cohortRowCount,
)
