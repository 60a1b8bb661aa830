import { learnDensity } from '../../src/evaluation/calibration/learn-density.ts'
import type { TemplateLearner } from '../../src/evaluation/calibration/learn-density.ts'
import { meanOf } from '../../src/evaluation/calibration/vectors.ts'
import { createTemplate, fuseEmbeddings } from '../../src/vision/embed/create-template.ts'
import { dlibWeight, fitTemplateModel } from './fit-template-model.ts'
import type { PersonEmbedding, TemplateFitOptions } from './fit-template-model.ts'

/** Learns the template that ships, with any number of dimensions. */
export function learnReduced(
  modelId: string,
  options: TemplateFitOptions,
): TemplateLearner<PersonEmbedding> {
  return (samples) => {
    const model = { modelId, ...fitTemplateModel(samples, options) }
    return ({ embedding }) => createTemplate(embedding, model)
  }
}

/** Learns a template of both networks with all 1,152 dimensions. */
export const learnUnreduced: TemplateLearner<PersonEmbedding> = (samples) => {
  const centre = meanOf(samples.map(({ embedding }) => embedding.faceres))
  return learnDensity('learnt', ({ embedding }: PersonEmbedding) =>
    fuseEmbeddings(embedding, centre, dlibWeight),
  )(samples)
}

/** Learns a template of the first network only, 128 dimensions. */
export const learnDlibOnly: TemplateLearner<PersonEmbedding> = learnDensity(
  'learnt',
  ({ embedding }: PersonEmbedding) => embedding.dlib,
)
