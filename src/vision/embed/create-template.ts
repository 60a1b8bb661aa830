import assert from 'node:assert/strict'

import { cohortDensity } from '../../lib/density/cohort-density.ts'
import type { TemplateModel } from '../../models/template/template-model.ts'
import { l2Normalize } from './embed.ts'
import type { NetworkEmbeddings } from './embed.ts'
import type { Template } from './template.ts'

/**
 * Creates a template from the embeddings of both networks: one vector, reduced to the axes of the
 * model, and its density.
 */
export function createTemplate(embeddings: NetworkEmbeddings, model: TemplateModel): Template {
  const vector = projectToAxes(fuseEmbeddings(embeddings, model.centre, model.dlibWeight), model)
  return { modelId: model.modelId, vector, density: cohortDensity(vector, model) }
}

/**
 * Combines both embeddings into one vector: `[dlibWeight · dlib ; l2(faceres − centre)]`, 128 + 1,024
 * values. The networks make errors on different people, so the combination is better than either.
 *
 * @param centre the mean of faceres over many people. All its vectors point in roughly the same
 *   direction; without that common part, the angles between them are more distinctive.
 */
export function fuseEmbeddings(
  { dlib, faceres }: NetworkEmbeddings,
  centre: Float32Array,
  dlibWeight: number,
): Float32Array {
  assert.equal(faceres.length, centre.length)
  const fused = new Float32Array(dlib.length + faceres.length)
  fused.set(dlib.map((value) => value * dlibWeight))
  fused.set(l2Normalize(faceres.map((value, index) => value - (centre[index] ?? 0))), dlib.length)
  return fused
}

/** Returns the coordinates of `fused − mean` along the axes (principal components, concatenated). */
export function projectToAxes(
  fused: Float32Array,
  { mean, axes }: Pick<TemplateModel, 'mean' | 'axes'>,
): Float32Array {
  assert.equal(fused.length, mean.length)
  const size = fused.length
  const vector = new Float32Array(axes.length / size)
  for (let axis = 0, offset = 0; axis < vector.length; axis++) {
    let sum = 0
    for (let i = 0; i < size; i++, offset++)
      sum += ((fused[i] ?? 0) - (mean[i] ?? 0)) * (axes[offset] ?? 0)
    vector[axis] = sum
  }
  return vector
}
