import assert from 'node:assert/strict'
import { test } from 'node:test'
import { correctedScore } from '../../gallery/calibration/similarity.ts'
import type { Template } from '../../vision/embed/template.ts'
import { mergeTemplates, spreadShares } from './merge-templates.ts'
import { squaredDistance } from './vectors.ts'

const template = (vector: readonly number[], density: number, modelId = 'm@1'): Template => ({
  modelId,
  vector: Float32Array.from(vector),
  density,
})

const frames = [
  template([1, 0, 0.5], -2),
  template([0.75, 0.25, 0], -1.5),
  template([0.5, 0.5, 1], -1.75),
]
const stored = template([0, 1, 0.25], -1)

test('With the double spread, the score of the merged probe is the mean of the scores', () => {
  const mean = frames.reduce((sum, frame) => sum + correctedScore(frame, stored), 0) / frames.length
  assert.ok(Math.abs(correctedScore(mergeTemplates(frames, 2), stored) - mean) < 1e-6)
})

const share = spreadShares.subject

test('The merged probe of one picture is its template, and that of equal pictures too', () => {
  const [first] = frames
  assert.ok(first)
  assert.deepEqual(mergeTemplates([first], share), first)
  assert.deepEqual(mergeTemplates([first, first, first], share), first)
})

test('The merged probe scores above the mean of the scores by three eighths of the spread', () => {
  const merged = mergeTemplates(frames, spreadShares.probe)
  const spread =
    frames.reduce((sum, { vector }) => sum + squaredDistance(vector, merged.vector), 0) /
    frames.length
  const mean = frames.reduce((sum, frame) => sum + correctedScore(frame, stored), 0) / frames.length
  assert.ok(spread > 0.1)
  assert.ok(Math.abs(correctedScore(merged, stored) - mean - (3 * spread) / 8) < 1e-6)
})

test('No templates, and templates of different models, cannot be merged', () => {
  assert.throws(() => mergeTemplates([], 1), RangeError)
  assert.throws(
    () => mergeTemplates([...frames, template([0, 0, 0], 0, 'm@2')], 1),
    /different models/u,
  )
})
