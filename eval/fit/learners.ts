import { densityOf, fuse, templateOf } from '../../src/vision/template.ts'
import type { Template } from '../../src/vision/view.ts'
import { mixCohort } from './cohort.ts'
import { cohortRows, dlibWeight, fitTemplate, neighbours } from './fit.ts'
import type { FitOptions, Sample } from './fit.ts'
import { seededRandom } from './random.ts'
import { meanOf } from './vectors.ts'

/** Learns from some people how to make templates, also of others. */
export type Learner = (samples: readonly Sample[]) => (sample: Sample) => Template

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
  return withDensity(samples, ({ descriptor }) => fuse(descriptor, centre, dlibWeight))
}

/** The first network alone, 128 dimensions. */
export const dlibAlone: Learner = (samples) =>
  withDensity(samples, ({ descriptor }) => descriptor.dlib)

function withDensity(
  samples: readonly Sample[],
  vectorOf: (sample: Sample) => Float32Array,
): (sample: Sample) => Template {
  const people = samples.map(({ person }) => person)
  const { rows: cohort } = mixCohort(samples.map(vectorOf), people, cohortRows, seededRandom(1))
  return (sample) => {
    const vector = vectorOf(sample)
    return { modelId: 'learnt', vector, density: densityOf(vector, { cohort, neighbours }) }
  }
}
