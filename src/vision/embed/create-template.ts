import assert from 'node:assert/strict'

import type { TemplateModel } from '../../models/template/template-model.ts'
import { l2Normalize } from './embed.ts'
import type { NetworkEmbeddings } from './embed.ts'
import type { Template } from '../image-analysis.ts'

/**
 * Makes a template of what the networks said: both descriptors in one vector, reduced to the axes
 * of the model, and how near strangers lie to it.
 */
export function createTemplate(descriptor: NetworkEmbeddings, model: TemplateModel): Template {
  const vector = projectToAxes(fuseEmbeddings(descriptor, model.centre, model.dlibWeight), model)
  return { modelId: model.modelId, vector, density: cohortDensity(vector, model) }
}

/**
 * One vector out of two: `[dlibWeight · dlib ; l2(faceres − centre)]`, 128 + 1,024 values. The two
 * networks err on different people; together they are right more often than either.
 *
 * @param centre the mean of faceres over many people. All its vectors point roughly one way;
 *   without that common part the angles between them say more.
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

/** The coordinates of `fused − mean` along the axes (principal components, one after another). */
export function projectToAxes(
  fused: Float32Array,
  { mean, axes }: Pick<TemplateModel, 'mean' | 'axes'>,
): Float32Array {
  assert.equal(fused.length, mean.length)
  const size = fused.length
  const vector = new Float32Array(axes.length / size)
  for (let axis = 0, at = 0; axis < vector.length; axis++) {
    let sum = 0
    for (let i = 0; i < size; i++, at++) sum += ((fused[i] ?? 0) - (mean[i] ?? 0)) * (axes[at] ?? 0)
    vector[axis] = sum
  }
  return vector
}

/**
 * The mean of the best scores (−distance²) of `vector` against the cohort, the r of cross-domain
 * similarity local scaling (Conneau et al. 2018, "Word translation without parallel data"). Faces
 * that look like everybody have strangers near by: their scores are lowered by it, so that they
 * stop matching everybody.
 */
export function cohortDensity(
  vector: Float32Array,
  { cohort, neighbours }: Pick<TemplateModel, 'cohort' | 'neighbours'>,
): number {
  const rows = cohort.length / vector.length
  assert.ok(Number.isInteger(rows) && rows >= neighbours, 'the cohort has whole rows, and enough')
  const distances = new Float64Array(rows)
  for (let row = 0, at = 0; row < rows; row++) {
    let sum = 0
    for (let i = 0; i < vector.length; i++, at++) sum += ((vector[i] ?? 0) - (cohort[at] ?? 0)) ** 2
    distances[row] = sum
  }
  const nearest = distances.sort().subarray(0, neighbours)
  return -nearest.reduce((sum, distance) => sum + distance, 0) / neighbours
}
