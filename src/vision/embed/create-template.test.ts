import assert from 'node:assert/strict'
import { test } from 'node:test'

import { l2Normalize } from './embed.ts'
import { readTemplateModel } from '../../models/template/template-model.ts'
import { cohortDensity, fuseEmbeddings, projectToAxes } from './create-template.ts'

const floats = (...values: number[]): Float32Array => Float32Array.from(values)

test('a fused vector is the weighted first descriptor beside the direction of the second', () => {
  const descriptor = { dlib: floats(1, -2), faceres: floats(0.6, 0.8) }
  const fused = fuseEmbeddings(descriptor, floats(0.6, 0.5), 2)
  assert.deepEqual(fused, floats(2, -4, 0, 1))
})

test('a projection is the coordinates along the axes, from the mean', () => {
  const axes = floats(0, 1, 0, 0, 0, 2)
  assert.deepEqual(projectToAxes(floats(3, 4, 5), { mean: floats(1, 1, 1), axes }), floats(3, 8))
})

test('the density is the mean of the best scores, not of all', () => {
  const cohort = floats(0, 0, 3, 4, 100, 0)
  assert.equal(cohortDensity(floats(0, 0), { cohort, neighbours: 2 }), -12.5)
})

test('a face nearer to strangers has a higher density', async () => {
  const model = await readTemplateModel()
  const dimensions = model.axes.length / model.mean.length
  const stranger = model.cohort.slice(0, dimensions)
  const unusual = stranger.map((value) => value * 3)
  assert.ok(cohortDensity(stranger, model) > cohortDensity(unusual, model))
})

test('the shipped model is whole: 256 orthonormal axes and a cohort in their space', async () => {
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

test('only a vector with a direction is normalised', () => {
  assert.deepEqual(l2Normalize(floats(0, 3, 4)), floats(0, 0.6, 0.8))
  assert.throws(() => l2Normalize(floats(0, 0)), /without a direction/u)
})
