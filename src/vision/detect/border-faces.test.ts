import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canShowBorderFace } from './border-faces.ts'

const frame = { width: 1000, height: 500 }
const inside = { x: 400, y: 200, width: 100, height: 100 }

const canShow = (box: typeof inside, confidence: number): boolean =>
  canShowBorderFace([{ box, confidence }], frame)

test('an uncertain box at any border can be a face that the border cuts', () => {
  for (const box of [
    { ...inside, x: 39 },
    { ...inside, y: 19 },
    { ...inside, x: 861 },
    { ...inside, y: 381 },
  ])
    assert.equal(canShow(box, 0.4), true)
  assert.equal(canShow(inside, 0.4), false)
  assert.equal(canShow({ ...inside, x: 40, y: 20 }, 0.4), false)
  assert.equal(canShow({ ...inside, x: 860, y: 380 }, 0.4), false)
})

test('a found face or a box with a negligible score is no reason to search at the border', () => {
  const atBorder = { ...inside, x: 0 }
  assert.equal(canShow(atBorder, 0.15), true)
  assert.equal(canShow(atBorder, 0.149), false)
  assert.equal(canShow(atBorder, 0.599), true)
  assert.equal(canShow(atBorder, 0.6), false)
  assert.equal(canShowBorderFace([], frame), false)
})
