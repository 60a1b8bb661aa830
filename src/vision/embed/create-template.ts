import assert from 'node:assert/strict'
import { openDensityKernel } from '../../lib/density/density-kernel.ts'
import type { TemplateModel } from '../../models/template/template-model.ts'
import { l2Normalize, type NetworkEmbeddings } from './embed.ts'
import type { Template } from './template.ts'

/** Creates a template from the embeddings of one face. */
export type CreateTemplate = (embeddings: NetworkEmbeddings) => Template

/**
 * Returns a function that creates a template from the embeddings of both networks: one vector, reduced
 * to the axes of the model, and its density.
 */
export function openTemplateCreator(model: TemplateModel): CreateTemplate {
  const { modelId, centre, mean, axes, dlibWeight } = model
  const measureDensity = openDensityKernel(model, axes.length / mean.length)
  return (embeddings) => {
    const vector = projectToAxes(fuseEmbeddings(embeddings, centre, dlibWeight), model)
    return { modelId, vector, density: measureDensity(vector) }
  }
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

/**
 * Returns the coordinates of `fused − mean` along the axes (principal components, concatenated).
 *
 * Each coordinate is summed in float64 in the order of the values, so that a vector that is computed again
 * is equal to the last bit. Four of them are summed side by side: one sum alone would wait for each of
 * its additions.
 */
export function projectToAxes(
  fused: Float32Array,
  { mean, axes }: Pick<TemplateModel, 'mean' | 'axes'>,
): Float32Array {
  assert.equal(fused.length, mean.length)
  const centred = Float64Array.from(fused, (value, index) => value - (mean[index] ?? 0))
  const vector = new Float32Array(axes.length / fused.length)
  let axis = 0
  for (; axis + 4 <= vector.length; axis += 4) projectToFourAxes(vector, axis, centred, axes)
  for (; axis < vector.length; axis++) vector[axis] = projectToAxis(centred, axes, axis)
  return vector
}

function projectToFourAxes(
  vector: Float32Array,
  axis: number,
  centred: Float64Array,
  axes: Float32Array,
): void {
  const size = centred.length
  const first = axis * size
  const [second, third, fourth] = [first + size, first + 2 * size, first + 3 * size]
  let [a, b, c, d] = [0, 0, 0, 0]
  for (let index = 0; index < size; index++) {
    const value = centred[index] ?? 0
    a += value * (axes[first + index] ?? 0)
    b += value * (axes[second + index] ?? 0)
    c += value * (axes[third + index] ?? 0)
    d += value * (axes[fourth + index] ?? 0)
  }
  vector.set([a, b, c, d], axis)
}

function projectToAxis(centred: Float64Array, axes: Float32Array, axis: number): number {
  const first = axis * centred.length
  return centred.reduce((sum, value, index) => sum + value * (axes[first + index] ?? 0), 0)
}
