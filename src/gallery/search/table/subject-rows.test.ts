import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { idWords, readIdWords, writeIdWords, createSubjectRows } from './subject-rows.ts'

test('A UUID is stored in four words and read unchanged; another text is not stored', () => {
  const words = new Uint32Array(idWords + 1)
  fc.assert(
    fc.property(fc.uuid(), (id) => {
      assert.equal(writeIdWords(id, words, 1), true)
      assert.equal(readIdWords(words, 1), id)
    }),
  )
  const id = '0a1b2c3d-0001-4002-8003-000000000004'
  for (const other of ['', 'face 1', id.toUpperCase(), `${id}0`, ` ${id}`])
    assert.equal(writeIdWords(other, words, 0), false, other)
})

test('After any additions and removals, every subject is found in its row', () => {
  // Few different ids, so that most are added and removed several times, and a part grows.
  const numbers = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 3_000 })), {
    minLength: 2_000,
    maxLength: 6_000,
  })
  fc.assert(
    fc.property(numbers, (steps) => {
      const words = new Uint32Array(3_001 * idWords)
      const faceRows = createSubjectRows((row) => ({ words, offset: row * idWords }))
      const expected = new Map<string, number>()
      const idOf = (row: number): string =>
        row % 10 === 0 ? `text ${row}` : `00000000-0000-4000-8000-${String(row).padStart(12, '0')}`
      for (const [isAddition, row] of steps) {
        const id = idOf(row)
        if (isAddition && !expected.has(id)) {
          writeIdWords(id, words, row * idWords)
          faceRows.add(id, row)
          expected.set(id, row)
        }
        if (!isAddition) {
          faceRows.remove(id)
          expected.delete(id)
        }
      }
      assert.equal(faceRows.size(), expected.size)
      for (let row = 0; row <= 3_000; row++)
        assert.equal(faceRows.get(idOf(row)), expected.get(idOf(row)))
    }),
    { numRuns: 20 },
  )
})
