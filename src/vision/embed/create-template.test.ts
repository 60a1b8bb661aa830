import assert from 'node:assert/strict'
import { test } from 'node:test'

import { l2Normalize } from './embed.ts'
import { readTemplateModel } from '../../models/template/template-model.ts'
import { cohortDensity } from '../../lib/density/cohort-density.ts'
import { fuseEmbeddings, projectToAxes } from './create-template.ts'

const floats = (...values: number[]): Float32Array => Float32Array.from(values)

test('A fused vector is the weighted dlib embedding followed by the normalized faceres embedding', () => {
  const embeddings = { dlib: floats(1, -2), faceres: floats(0.6, 0.8) }
  const fused = fuseEmbeddings(embeddings, floats(0.6, 0.5), 2)
  assert.deepEqual(fused, floats(2, -4, 0, 1))
})

test('A projection contains the coordinates along the axes, relative to the mean', () => {
  const axes = floats(0, 1, 0, 0, 0, 2)
  assert.deepEqual(projectToAxes(floats(3, 4, 5), { mean: floats(1, 1, 1), axes }), floats(3, 8))
})

test('The density is the mean of the best scores, not of all scores', () => {
  const cohort = floats(0, 0, 3, 4, 100, 0)
  assert.equal(cohortDensity(floats(0, 0), { cohort, neighbours: 2 }), -12.5)
})

test('A face closer to the cohort has a higher density', async () => {
  const model = await readTemplateModel()
  const dimensions = model.axes.length / model.mean.length
  const typical = model.cohort.slice(0, dimensions)
  const unusual = typical.map((value) => value * 3)
  assert.ok(cohortDensity(typical, model) > cohortDensity(unusual, model))
})

test('The shipped model has 256 orthonormal axes and a cohort in their space', async () => {
  const { axes, mean, centre, cohort, modelId } = await readTemplateModel()
  assert.equal(modelId, 'dlib-faceres-256@1')
  assert.deepEqual([centre.length, mean.length, axes.length], [1024, 1152, 256 * 1152])
  assert.equal(cohort.length % 256, 0)
  const axis = (index: number): Float32Array => axes.subarray(index * 1152, (index + 1) * 1152)
  const dot = (a: Float32Array, b: Float32Array): number =>
    a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
  for (const index of [0, 100, 255]) {
    assert.ok(Math.abs(dot(axis(index), axis(index)) - 1) < 1e-3)
    assert.ok(Math.abs(dot(axis(index), axis((index + 1) % 256))) < 1e-3)
  }
})

test('A vector of zeros cannot be normalized', () => {
  assert.deepEqual(l2Normalize(floats(0, 3, 4)), floats(0, 0.6, 0.8))
  assert.throws(() => l2Normalize(floats(0, 0)), /a vector of zeros/u)
})
