import assert from 'node:assert/strict'
import { test } from 'node:test'
import { growGroup, largestGroup, samePersonSimilarityMin } from './add-pictures.ts'

/** Pictures with these pairs similar. */
const similar =
  (...pairs: readonly (readonly [number, number])[]) =>
  (a: number, b: number): number =>
    pairs.some(([c, d]) => (a === c && b === d) || (a === d && b === c))
      ? samePersonSimilarityMin
      : samePersonSimilarityMin - 1e-9

test('The largest group of similar pictures shows the person, the first one if sizes are equal', () => {
  assert.deepEqual(largestGroup(4, similar([1, 2], [2, 3])), [1, 2, 3])
  assert.deepEqual(largestGroup(4, similar([0, 1], [2, 3])), [0, 1])
  assert.deepEqual(largestGroup(2, similar()), [0])
  assert.deepEqual(largestGroup(1, similar()), [0])
})

test('A group grows from its seeds through similar pictures, and is empty without seeds', () => {
  assert.deepEqual(growGroup(5, [0], similar([0, 4], [4, 2])), [0, 2, 4])
  assert.deepEqual(growGroup(5, [], similar([0, 4])), [])
})

test('The limit belongs to the group, and another limit can be given', () => {
  const similarityOf = () => 0.7
  assert.deepEqual(largestGroup(2, similarityOf), [0])
  assert.deepEqual(largestGroup(2, similarityOf, 0.7), [0, 1])
})
