import type { PersonTemplate } from '../../src/evaluation/verification/pair-scores.ts'
import { openDensityKernel } from '../../src/lib/density/density-kernel.ts'
import { fuseEmbeddings, projectToAxes } from '../../src/vision/embed/create-template.ts'
import type { Template } from '../../src/vision/embed/template.ts'
import { fitTemplateModel, type PersonEmbedding } from '../fit/fit-template-model.ts'

const templateOptions = { dimensions: 256, seed: 1 }

/** Learns the template from samples, with a cohort that the fused mixtures extend. */
export function learnTemplate(
  samples: readonly PersonEmbedding[],
  fused: readonly Float32Array[],
  modelId: string,
) {
  const fit = fitTemplateModel(samples, templateOptions)
  const added = fused.flatMap((row) => [...projectToAxes(row, fit)])
  const cohort = Float32Array.from([...fit.cohort, ...added])
  const densityOf = openDensityKernel({ ...fit, cohort }, templateOptions.dimensions)
  const createTemplate = (vector: Float32Array): Template => ({
    modelId,
    vector,
    density: densityOf(vector),
  })
  const toFace = ({ person, embedding: { dlib, faceres } }: PersonEmbedding): PersonTemplate => ({
    person,
    template: createTemplate(
      projectToAxes(fuseEmbeddings({ dlib, faceres }, fit.centre, fit.dlibWeight), fit),
    ),
  })
  return { createTemplate, toFace }
}
