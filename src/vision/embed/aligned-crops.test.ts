import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { arcfaceTemplate, sampleDlibCrop, sampleFaceresCrop } from './aligned-crops.ts'
import type { Mesh } from '../landmarks/mesh.ts'
import { createImagePyramid, type PlanarCrop } from '../image/pyramid.ts'
import { mirrorTensor } from '../tensor.ts'
import type { Point } from '../image/geometry.ts'

const { face_recognition: dlib, facemesh } = builtinPack.models

const shifted = ({ x, y }: Point): Point => ({ x: x + 60, y: y + 40 })

/** Rotates by 0.5 radians, enlarges a little and shifts. */
const tilted = ({ x, y }: Point): Point => ({
  x: 1.1 * (x * Math.cos(0.5) - y * Math.sin(0.5)) + 150,
  y: 1.1 * (x * Math.sin(0.5) + y * Math.cos(0.5)) + 30,
})

test('Every landmark is at its position in the dlib crop, wherever the face is and however it is rotated', async () => {
  const ideal = dlib.constants.template.map(([landmark = 0, x = 0, y = 0]) => ({
    landmark,
    x: ((0.25 + x) / 1.5) * 150 + 0.5,
    y: ((0.25 + y) / 1.5) * 150 + 0.5,
  }))
  for (const move of [shifted, tilted]) {
    const positions = new Map(ideal.map(({ landmark, x, y }) => [landmark, move({ x, y })]))
    const crop = await sampleDlibCrop(...renderDots(positions, move({ x: 75, y: 75 })))
    assert.equal(crop.width, 150)
    for (const { landmark, x, y } of ideal.filter((_, index) => index % 8 === 0))
      assertBright(crop, { x, y }, `landmark ${landmark}`)
  }
})

test('Every landmark is at its position in the zoomed template of the faceres crop', async () => {
  const [leftEye, rightEye, nose, leftMouth, rightMouth] = arcfaceTemplate(224, 0.8)
  assert.ok(leftEye && rightEye && nose && leftMouth && rightMouth)
  assert.ok(Math.abs(nose.x - (((56.0252 - 56) * 0.8 + 56) * 2 + 0.5)) < 1e-9)
  for (const move of [shifted, tilted]) {
    const positions = new Map<number, Point>()
    for (let index = 36; index < 42; index++) positions.set(index, move(leftEye))
    for (let index = 42; index < 48; index++) positions.set(index, move(rightEye))
    positions.set(30, move(nose)).set(48, move(leftMouth)).set(54, move(rightMouth))
    const crop = await sampleFaceresCrop(...renderDots(positions, move({ x: 112, y: 112 })))
    assert.equal(crop.width, 224)
    for (const point of [leftEye, rightEye, nose, leftMouth, rightMouth])
      assertBright(crop, point, JSON.stringify(point))
  }
})

test('Mirroring reverses each row, and mirroring twice restores the tensor', () => {
  const tensor = Float32Array.from([1, 2, 3, 4, 5, 6])
  assert.deepEqual([...mirrorTensor(tensor, 3)], [3, 2, 1, 6, 5, 4])
  assert.deepEqual(mirrorTensor(mirrorTensor(tensor, 2), 2), tensor)
})

/** Returns a dark image with a bright dot at each position, and a mesh with these landmarks. */
function renderDots(positions: ReadonlyMap<number, Point>, centre: Point) {
  const [width, height] = [440, 400]
  const pixels = new Uint8Array(3 * width * height)
  for (const { x, y } of positions.values())
    for (let row = Math.floor(y) - 2; row <= Math.floor(y) + 2; row++)
      for (let column = Math.floor(x) - 2; column <= Math.floor(x) + 2; column++)
        pixels.fill(255, 3 * (row * width + column), 3 * (row * width + column) + 3)
  const points = Array.from({ length: 468 }, () => ({ ...centre, z: 0 }))
  for (const [landmark, position] of positions)
    points[facemesh.constants.landmarks68[landmark] ?? 0] = { ...position, z: 0 }
  const crop: PlanarCrop = { width: 0, height: 0, planes: new Float32Array() }
  const mesh: Mesh = { points, cropPoints: points, faceScore: 1, crop, cropScale: 1 }
  const frame = { width, height, pixels }
  return [createImagePyramid({ frame, highResFrame: () => Promise.resolve(frame) }), mesh] as const
}

function assertBright({ width, planes }: PlanarCrop, { x, y }: Point, label: string): void {
  const value = planes[Math.floor(y) * width + Math.floor(x)] ?? 0
  assert.ok(value > 200, `${label}: the value at (${x}, ${y}) is ${value}`)
}
