import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scoreDistribution } from './score-distribution.ts'

const templates = {
  modelId: 'm@1',
  subjects: ['a', 'b', 'c'].map((subjectId) => ({ subjectId, externalId: null, groups: [] })),
  dimensions: 2,
  // The subject b has three templates.
  vectors: Float32Array.from([0, 0, 1, 0, 1, 1, 1, 3, 9, 9]),
  densities: Float64Array.from([0, 0, 2, 0, 0]),
  subjectOf: Int32Array.from([0, 1, 1, 1, 2]),
  unreadable: 0,
  otherFaces: 0,
  faces: [],
}

const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0)

test('Every pair of different subjects and of one subject is in one bin', () => {
  const different = Float32Array.from([-11, -10, -10, -5, -5, -1])
  const { edges, different: counts, same } = scoreDistribution(templates, different)
  assert.equal(edges.length, counts.length + 1)
  assert.deepEqual([edges[0], sum(counts), sum(same)], [-11, 6, 3])
  assert.equal(counts.at(-1), 1, 'the last bin contains its upper edge')
  // Squared distances 1, 9 and 4; a density of 2 lowers two of the scores by 1.
  const binOf = (score: number) => Math.floor((score - (edges[0] ?? 0)) / ((-1 + 11) / 60))
  for (const score of [-2, -9, -5]) assert.equal(same[binOf(score + 1e-6)], 1, String(score))
})

test('A gallery without pairs has no distribution', () => {
  const empty = { ...templates, subjectOf: new Int32Array(), densities: new Float64Array() }
  const result = scoreDistribution(empty, new Float32Array())
  assert.deepEqual(result, { edges: [], different: [], same: [] })
})
