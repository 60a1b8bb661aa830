import assert from 'node:assert/strict'
import { test } from 'node:test'

import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { arcfaceTemplate } from '../landmarks/arcface-template.ts'
import { sampleAlignedCrops } from './aligned-crops.ts'
import type { Mesh } from '../landmarks/mesh.ts'
import { createImagePyramid } from '../image/pyramid.ts'
import { mirrorTensor } from '../tensor.ts'
import type { Point } from '../image-analysis.ts'
import type { PlanarCrop } from '../image/warp.ts'

const { face_recognition: dlib, facemesh } = builtinPack.models

test('every landmark lands where dlib wants it, wherever and however turned the face is', async () => {
  const ideal = dlib.constants.template.map(([landmark, x, y]) => ({
    landmark,
    x: ((0.25 + x) / 1.5) * 150 + 0.5,
    y: ((0.25 + y) / 1.5) * 150 + 0.5,
  }))
  for (const pose of [upright, tilted]) {
    const places = new Map(ideal.map(({ landmark, x, y }) => [landmark, pose({ x, y })]))
    const { dlib: chip } = await sampleAlignedCrops(...renderDots(places, pose({ x: 75, y: 75 })))
    assert.equal(chip.width, 150)
    for (const { landmark, x, y } of ideal.filter((_, index) => index % 8 === 0))
      assertBright(chip, { x, y }, `landmark ${landmark}`)
  }
})

test('the nose of the faceres chip lies where the template has it, seen from farther away', async () => {
  const [leftEye, rightEye, nose, leftMouth, rightMouth] = arcfaceTemplate(224, 0.8)
  assert.ok(leftEye && rightEye && nose && leftMouth && rightMouth)
  assert.ok(Math.abs(nose.x - (((56.0252 - 56) * 0.8 + 56) * 2 + 0.5)) < 1e-9)
  for (const pose of [upright, tilted]) {
    const places = new Map<number, Point>()
    for (let index = 36; index < 42; index++) places.set(index, pose(leftEye))
    for (let index = 42; index < 48; index++) places.set(index, pose(rightEye))
    places.set(30, pose(nose)).set(48, pose(leftMouth)).set(54, pose(rightMouth))
    const { faceres: chip } = await sampleAlignedCrops(
      ...renderDots(places, pose({ x: 112, y: 112 })),
    )
    assert.equal(chip.width, 224)
    for (const point of [leftEye, rightEye, nose, leftMouth, rightMouth])
      assertBright(chip, point, JSON.stringify(point))
  }
})

test('a mirror image is the same twice over, each row turned about', () => {
  const tensor = Float32Array.from([1, 2, 3, 4, 5, 6])
  assert.deepEqual([...mirrorTensor(tensor, 3)], [3, 2, 1, 6, 5, 4])
  assert.deepEqual(mirrorTensor(mirrorTensor(tensor, 2), 2), tensor)
})

const upright = ({ x, y }: Point): Point => ({ x: x + 60, y: y + 40 })

/** Turned by a third of a right angle, a little larger, elsewhere. */
const tilted = ({ x, y }: Point): Point => ({
  x: 1.1 * (x * Math.cos(0.5) - y * Math.sin(0.5)) + 150,
  y: 1.1 * (x * Math.sin(0.5) + y * Math.cos(0.5)) + 30,
})

/** A dark picture with a bright dot at each place, and a mesh whose landmarks lie there. */
function renderDots(places: ReadonlyMap<number, Point>, middle: Point) {
  const [width, height] = [440, 400]
  const pixels = new Uint8Array(3 * width * height)
  for (const { x, y } of places.values())
    for (let row = Math.floor(y) - 2; row <= Math.floor(y) + 2; row++)
      for (let column = Math.floor(x) - 2; column <= Math.floor(x) + 2; column++)
        pixels.fill(255, 3 * (row * width + column), 3 * (row * width + column) + 3)
  const points = Array.from({ length: 468 }, () => ({ ...middle, z: 0 }))
  for (const [landmark, place] of places)
    points[facemesh.constants.landmarks68[landmark] ?? 0] = { ...place, z: 0 }
  const chip: PlanarCrop = { width: 0, height: 0, planes: new Float32Array() }
  const mesh: Mesh = { points, cropPoints: points, faceScore: 1, crop: chip, cropScale: 1 }
  const frame = { width, height, pixels }
  return [createImagePyramid({ frame, highResFrame: () => Promise.resolve(frame) }), mesh] as const
}

function assertBright({ width, planes }: PlanarCrop, { x, y }: Point, what: string): void {
  const value = planes[Math.floor(y) * width + Math.floor(x)] ?? 0
  assert.ok(value > 200, `${what} is at (${x}, ${y}), which shows ${value}`)
}
