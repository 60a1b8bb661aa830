import {
  cohortDensity,
  fuseEmbeddings,
  createTemplate,
} from '../../vision/embed/create-template.ts'
import type { Template } from '../../vision/image-analysis.ts'
import { mixCohort } from './mix-cohort.ts'
import {
  cohortRowCount,
  dlibWeight,
  fitTemplateModel,
  neighbourCount,
} from './fit-template-model.ts'
import type { TemplateFitOptions, PersonEmbedding } from './fit-template-model.ts'
import { seededRandom } from '../seeded-random.ts'
import { meanOf } from './vectors.ts'

/** Learns from some people how to make templates, also of others. */
export type TemplateLearner<S = PersonEmbedding> = (
  samples: readonly S[],
) => (sample: S) => Template

/** The template that ships, with any number of dimensions. */
export function learnReduced(modelId: string, options: TemplateFitOptions): TemplateLearner {
  return (samples) => {
    const model = { modelId, ...fitTemplateModel(samples, options) }
    return ({ embedding: descriptor }) => createTemplate(descriptor, model)
  }
}

/** Both networks, all 1,152 dimensions. */
export const learnUnreduced: TemplateLearner = (samples) => {
  const centre = meanOf(samples.map(({ embedding: descriptor }) => descriptor.faceres))
  return learnDensity('learnt', ({ embedding: descriptor }: PersonEmbedding) =>
    fuseEmbeddings(descriptor, centre, dlibWeight),
  )(samples)
}

/** The first network alone, 128 dimensions. */
export const learnDlibOnly: TemplateLearner = learnDensity(
  'learnt',
  ({ embedding: descriptor }: PersonEmbedding) => descriptor.dlib,
)

/** Vectors as they are, 1,000 mixtures of the people learnt from as their cohort. */
export function learnDensity<S extends { readonly person: string }>(
  modelId: string,
  vectorOf: (sample: S) => Float32Array,
): TemplateLearner<S> {
  return (samples) => {
    const people = samples.map(({ person }) => person)
    const { rows: cohort } = mixCohort(
      samples.map(vectorOf),
      people,
      cohortRowCount,
      seededRandom(1),
    )
    return (sample) => {
      const vector = vectorOf(sample)
      return {
        modelId,
        vector,
        density: cohortDensity(vector, { cohort, neighbours: neighbourCount }),
      }
    }
  }
}
