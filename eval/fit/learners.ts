import { densityOf, fuse, templateOf } from '../../src/vision/template.ts'
import type { Template } from '../../src/vision/view.ts'
import { mixCohort } from './cohort.ts'
import { cohortRows, dlibWeight, fitTemplate, neighbours } from './fit.ts'
import type { FitOptions, Sample } from './fit.ts'
import { seededRandom } from './random.ts'
import { meanOf } from './vectors.ts'

/** Learns from some people how to make templates, also of others. */
export type Learner<S = Sample> = (samples: readonly S[]) => (sample: S) => Template

/** The template that ships, with any number of dimensions. */
export function reduced(modelId: string, options: FitOptions): Learner {
  return (samples) => {
    const model = { modelId, ...fitTemplate(samples, options) }
    return ({ descriptor }) => templateOf(descriptor, model)
  }
}

/** Both networks, all 1,152 dimensions. */
export const unreduced: Learner = (samples) => {
  const centre = meanOf(samples.map(({ descriptor }) => descriptor.faceres))
  return withDensity('learnt', ({ descriptor }: Sample) => fuse(descriptor, centre, dlibWeight))(
    samples,
  )
}

/** The first network alone, 128 dimensions. */
export const dlibAlone: Learner = withDensity('learnt', ({ descriptor }: Sample) => descriptor.dlib)

/** Vectors as they are, 1,000 mixtures of the people learnt from as their cohort. */
export function withDensity<S extends { readonly person: string }>(
  modelId: string,
  vectorOf: (sample: S) => Float32Array,
): Learner<S> {
  return (samples) => {
    const people = samples.map(({ person }) => person)
    const { rows: cohort } = mixCohort(samples.map(vectorOf), people, cohortRows, seededRandom(1))
    return (sample) => {
      const vector = vectorOf(sample)
      return { modelId, vector, density: densityOf(vector, { cohort, neighbours }) }
    }
  }
}
