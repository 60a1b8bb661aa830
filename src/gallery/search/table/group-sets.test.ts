import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGroupSets } from './group-sets.ts'

test('A filter allows the sets that contain any of its groups, and never the empty row', () => {
  const groupSets = createGroupSets()
  const ids = [[], ['a'], ['b', 'a'], ['b']].map((groups) => groupSets.acquire(groups))
  const allowedFor = (groups?: string[]) => {
    const bytes = groupSets.allowed(groups)
    return [0, ...ids].map((id) => bytes[id])
  }
  assert.deepEqual(allowedFor(), [0, 1, 1, 1, 1])
  assert.deepEqual(allowedFor(['a']), [0, 0, 1, 1, 0])
  assert.deepEqual(allowedFor(['b', 'a']), [0, 0, 1, 1, 1])
  assert.deepEqual(allowedFor(['c']), [0, 0, 0, 0, 0])
  assert.deepEqual(allowedFor([]), [0, 0, 0, 0, 0])
})

test('The same groups in any order share an id, which is reused when no row has it', () => {
  const groupSets = createGroupSets()
  const id = groupSets.acquire(['a', 'b'])
  assert.equal(groupSets.acquire(['b', 'a', 'b']), id)
  groupSets.release(id)
  assert.equal(groupSets.acquire(['a', 'b']), id)
  groupSets.release(id)
  groupSets.release(id)
  assert.equal(groupSets.acquire(['c']), id)
  assert.equal(groupSets.allowed(['a'])[id], 0)
  assert.equal(groupSets.allowed(['c'])[id], 1)
})
