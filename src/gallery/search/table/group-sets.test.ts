import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGroupSets } from './group-sets.ts'

test('a filter allows the sets that hold any of its groups, and never the empty row', () => {
  const labels = createGroupSets()
  const [none, a, ab, b] = [[], ['a'], ['b', 'a'], ['b']].map((groups) => labels.acquire(groups))
  const allowedBy = (groups?: string[]) => {
    const bytes = labels.allowed(groups)
    return [0, none, a, ab, b].map((label) => bytes[label!])
  }
  assert.deepEqual(allowedBy(), [0, 1, 1, 1, 1])
  assert.deepEqual(allowedBy(['a']), [0, 0, 1, 1, 0])
  assert.deepEqual(allowedBy(['b', 'a']), [0, 0, 1, 1, 1])
  assert.deepEqual(allowedBy(['c']), [0, 0, 0, 0, 0])
  assert.deepEqual(allowedBy([]), [0, 0, 0, 0, 0])
})

test('the same groups in any order share a label, which is given again when no row has it', () => {
  const labels = createGroupSets()
  const label = labels.acquire(['a', 'b'])
  assert.equal(labels.acquire(['b', 'a', 'b']), label)
  labels.release(label)
  assert.equal(labels.acquire(['a', 'b']), label)
  labels.release(label)
  labels.release(label)
  assert.equal(labels.acquire(['c']), label)
  assert.equal(labels.allowed(['a'])[label], 0)
  assert.equal(labels.allowed(['c'])[label], 1)
})
