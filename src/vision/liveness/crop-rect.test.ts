import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cropRect, cropFactorMax, cropAndResize } from './crop-rect.ts'

const frame = { width: 640, height: 480 }

test('A stretched crop multiplies each side of the box by the factor and includes the last pixel', () => {
  const box = { x: 300, y: 200, width: 50, height: 60 }
  // The centre is (325, 230); the sides are 2.7 times those of the box: 135 and 162.
  assert.deepEqual(cropRect('stretched', box, 2.7, frame), {
    left: 257,
    top: 149,
    width: 136,
    height: 163,
  })
})

test('A stretched crop at the border is shifted into the frame', () => {
  const left = cropRect('stretched', { x: 0, y: 0, width: 50, height: 60 }, 2.7, frame)
  assert.deepEqual(left, { left: 0, top: 0, width: 136, height: 163 })
  const right = cropRect('stretched', { x: 590, y: 420, width: 50, height: 60 }, 2.7, frame)
  assert.deepEqual([right.left + right.width, right.top + right.height], [640, 480])
})

test('A stretched crop is limited to the size of the frame', () => {
  const box = { x: 100, y: 40, width: 300, height: 400 }
  assert.equal(cropFactorMax(box, frame), 479 / 400)
  const crop = cropRect('stretched', box, 4, frame)
  assert.deepEqual([crop.top, crop.height], [0, 480])
  assert.equal(crop.width, Math.trunc(250 + 179.625) - Math.trunc(250 - 179.625) + 1)
})

test('A square crop uses the longer side, is centred and can extend beyond the frame', () => {
  const crop = cropRect('square', { x: 0, y: 0, width: 50, height: 60 }, 1.5, frame)
  assert.deepEqual(crop, { left: -20, top: -15, width: 90, height: 90 })
})

test('Pixels outside the frame are black, and a crop of the same size keeps the pixel values', () => {
  const pixels = Uint8Array.from({ length: 2 * 2 * 3 }, (_, index) => index + 1)
  const source = { width: 2, height: 2, pixels }
  const { planes } = cropAndResize(
    source,
    { left: -1, top: 0, width: 3, height: 2 },
    { width: 3, height: 2 },
  )
  assert.deepEqual([...planes.subarray(0, 6)], [0, 1, 4, 0, 7, 10])
})

test('A crop is resized like in OpenCV: between pixel centres and without averaging', () => {
  const source = {
    width: 4,
    height: 1,
    pixels: Uint8Array.from([0, 0, 0, 100, 100, 100, 200, 200, 200, 40, 40, 40]),
  }
  const all = { left: 0, top: 0, width: 4, height: 1 }
  const wider = cropAndResize(source, all, { width: 8, height: 1 }).planes.subarray(0, 8)
  assert.deepEqual([...wider], [0, 25, 75, 125, 175, 160, 80, 40])
  const narrower = cropAndResize(source, all, { width: 2, height: 1 }).planes.subarray(0, 2)
  assert.deepEqual([...narrower], [50, 120])
})
