import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'

import {
  fuseEmbeddings,
  l2Normalize,
  openTemplateCreator,
  projectToAxes,
} from './create-template.ts'
import manifest from '../../models/template/manifest.json' with { type: 'json' }
import { readTemplateModel } from '../../models/template/template-model.ts'
import { openDensityKernel } from '../../lib/density/density-kernel.ts'
import { plainDensity } from '../../../test/support/vision/plain-density.ts'

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

test('Each coordinate is the sum in float64 in the order of the values, for any number of axes', () => {
  const value = fc.float({ min: -2, max: 2, noNaN: true })
  const rowsOf = (rows: number, size: number): fc.Arbitrary<number[]> =>
    fc.array(value, { minLength: rows * size, maxLength: rows * size })
  const sample = fc
    .record({ size: fc.integer({ min: 1, max: 9 }), axes: fc.integer({ min: 1, max: 9 }) })
    .chain(({ size, axes }) => fc.tuple(rowsOf(2, size), rowsOf(axes, size)))
  fc.assert(
    fc.property(sample, (rows) => {
      const [both, axes] = rows.map((row) => Float32Array.from(row))
      assert.ok(both && axes)
      const size = both.length / 2
      const [fused, mean] = [both.subarray(0, size), both.subarray(size)]
      const expected = Float32Array.from({ length: axes.length / size }, (_, axis) =>
        fused.reduce(
          (sum, one, index) =>
            sum + (one - (mean[index] ?? NaN)) * (axes[axis * size + index] ?? NaN),
          0,
        ),
      )
      assert.deepEqual(projectToAxes(fused, { mean, axes }), expected)
    }),
  )
})

test('A template has the projected vector and its density', async () => {
  const model = await readTemplateModel()
  const embeddings = {
    dlib: Float32Array.from({ length: 128 }, (_, index) => Math.sin(index)),
    faceres: Float32Array.from({ length: 1024 }, (_, index) => Math.cos(index) / 32),
  }
  const template = openTemplateCreator(model)(embeddings)
  const fused = fuseEmbeddings(embeddings, model.centre, model.dlibWeight)
  const vector = projectToAxes(fused, model)
  assert.deepEqual(template, {
    modelId: model.modelId,
    vector,
    density: plainDensity(vector, model),
  })
})

test('A face closer to the cohort has a higher density', async () => {
  const model = await readTemplateModel()
  const dimensions = model.axes.length / model.mean.length
  const typical = model.cohort.slice(0, dimensions)
  const unusual = typical.map((value) => value * 3)
  const measureDensity = openDensityKernel(model, dimensions)
  assert.ok(measureDensity(typical) > measureDensity(unusual))
})

test('The shipped model has 256 orthonormal axes and a cohort in their space', async () => {
  const { axes, mean, centre, cohort, modelId } = await readTemplateModel()
  assert.equal(modelId, `${manifest.id}@${manifest.version}`)
  assert.deepEqual([centre.length, mean.length, axes.length], [1024, 1152, 256 * 1152])
  assert.equal(cohort.length, manifest.cohortRows * 256)
  const axis = (index: number): Float32Array => axes.subarray(index * 1152, (index + 1) * 1152)
  const dot = (a: Float32Array, b: Float32Array): number =>
    a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
  for (const index of [0, 100, 255]) {
    assert.ok(Math.abs(dot(axis(index), axis(index)) - 1) < 1e-3)
    assert.ok(Math.abs(dot(axis(index), axis((index + 1) % 256))) < 1e-3)
  }
})

test('The added rows are near no fitted mixture and lower the scores of most faces', async () => {
  const { cohort, neighbours } = await readTemplateModel()
  const added = cohort.subarray(1000 * 256)
  assert.equal(added.length, manifest.added.rows * 256)
  const fitted = cohort.subarray(0, 1000 * 256)
  const measureNearest = openDensityKernel({ cohort: fitted, neighbours: 1 }, 256)
  const measureWithFitted = openDensityKernel({ cohort: fitted, neighbours }, 256)
  const measureDensity = openDensityKernel({ cohort, neighbours }, 256)
  for (let row = 0; row < added.length; row += 100 * 256) {
    const vector = added.subarray(row, row + 256)
    assert.ok(measureNearest(vector) < -0.3, 'a row is not a copy of another')
    assert.ok(measureDensity(vector) > measureWithFitted(vector))
  }
})

test('A vector of zeros cannot be normalized', () => {
  assert.deepEqual(l2Normalize(floats(0, 3, 4)), floats(0, 0.6, 0.8))
  assert.throws(() => l2Normalize(floats(0, 0)), /a vector of zeros/u)
})
