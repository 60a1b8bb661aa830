import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp, { type Sharp } from 'sharp'
import { readCsv } from '../../src/evaluation/read-csv.ts'
import { iou, meanOf, type Rect } from '../../src/vision/image/geometry.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { selfTestModels } from '../../src/vision/self-test/self-test.ts'
import type { FaceResult } from '../../src/vision/image-analysis.ts'
import { samplePhotograph } from '../support/facegate/test-facegate.ts'
import {
  largestFace,
  modelsFolder,
  openTestPipeline,
  type TestPipeline,
} from '../support/vision/test-pipeline.ts'
import { evalDataFolder } from '../support/paths.ts'

const detectionFolder = path.join(evalDataFolder, 'detection')

let pipeline: TestPipeline
/** The face of one woman near the camera, cropped from a photograph of four: 448×504. */
let portrait: Buffer
let face: FaceResult
before(async () => {
  pipeline = await openTestPipeline()
  portrait = await sharp((await samplePhotograph(6)).bytes)
    .extract({ left: 1380, top: 190, width: 448, height: 504 })
    .png()
    .toBuffer()
  face = largestFace(await pipeline.analyze(portrait))
})
after(() => pipeline.close())

const rectOf = ({ boundingBox: { left, top, width, height } }: FaceResult): Rect => ({
  x: left,
  y: top,
  width,
  height,
})
const rightEdge = ({ boundingBox }: FaceResult): number => boundingBox.left + boundingBox.width

test('All faces in the front rows of the sample photographs are found', async () => {
  const counts = [3, 3, 3, 4, 5, 4]
  for (const [index, count] of counts.entries()) {
    const { bytes } = await samplePhotograph((index + 1) as 1 | 2 | 3 | 4 | 5 | 6)
    const { faceCount, faces } = await pipeline.analyze(bytes)
    assert.equal(faceCount, count, `sample ${index + 1}`)
    for (const { boundingBox, landmarks } of faces) {
      const { left, top, width, height } = boundingBox
      const { x, y } = meanOf(Object.values(landmarks))
      assert.ok(Math.abs(x - left - width / 2) < 0.35 * width, 'the box is centred on the face')
      assert.ok(Math.abs(y - top - height / 2) < 0.25 * height, 'the box is centred on the face')
    }
  }
})

test(
  'The number of faces is correct within one on 16 of 18 pictures, and dogs have no face',
  { skip: existsSync(detectionFolder) ? false : `${detectionFolder} is missing` },
  async () => {
    let correct = 0
    const rows = await readCsv(path.join(detectionFolder, 'labels.csv'), ['file', 'face_count'])
    for (const { cells } of rows) {
      const { file = '', face_count: label } = cells
      const { faceCount } = await pipeline.analyze(await readFile(path.join(detectionFolder, file)))
      if (Math.abs(faceCount - Number(label)) <= 1) correct++
      if (file.endsWith('dogs.jpg')) assert.equal(faceCount, 0, 'dogs')
    }
    assert.ok(correct >= 16, `${correct} of ${rows.length}`)
  },
)

test('A face that fills the picture is found, also if the head leans', async () => {
  const upright = sharp((await samplePhotograph(4)).bytes).extract({
    left: 223,
    top: 224,
    width: 197,
    height: 197,
  })
  const around = sharp((await samplePhotograph(2)).bytes).extract({
    left: 189,
    top: 16,
    width: 510,
    height: 510,
  })
  const rotated = sharp(await around.png().toBuffer()).rotate(30, { background: '#888' })
  const { data, info } = await rotated.png().toBuffer({ resolveWithObject: true })
  const [left, top] = [info.width, info.height].map((length) => Math.round(length / 2 - 116))
  const leaning = sharp(data).extract({ left: left ?? 0, top: top ?? 0, width: 232, height: 232 })
  for (const picture of [upright, leaning]) {
    const { faceCount, faces, width, height } = await pipeline.analyze(
      await picture.png().toBuffer(),
    )
    assert.equal(faceCount, 1)
    const { boundingBox: box } = faces[0] ?? assert.fail()
    assert.ok(box.width * box.height > 0.5 * width * height, 'the box covers the face')
  }
})

test('Left and right landmarks are those of the image', () => {
  const { leftEye, rightEye, noseTip, leftMouth, rightMouth } = face.landmarks
  assert.ok(leftEye.x < noseTip.x && noseTip.x < rightEye.x)
  assert.ok(leftMouth.x < rightMouth.x)
  assert.ok(leftEye.y < noseTip.y && noseTip.y < leftMouth.y)
})

test('Mirroring an image mirrors box, yaw and roll, and keeps pitch and quality', async () => {
  const mirrored = largestFace(
    await pipeline.analyze(await sharp(portrait).flop().png().toBuffer()),
  )
  // BlazeFace itself is not symmetric: on 162 faces the mirrored boxes overlapped by 0.78 or more.
  assert.ok(iou(rectOf(mirrored), { ...rectOf(face), x: 448 - rightEdge(face) }) > 0.7, 'box')
  assert.ok(Math.abs(mirrored.pose.yaw + face.pose.yaw) < 4, 'yaw')
  assert.ok(Math.abs(mirrored.pose.roll + face.pose.roll) < 3, 'roll')
  assert.ok(Math.abs(mirrored.pose.pitch - face.pose.pitch) < 4, 'pitch')
  assert.ok(Math.abs(mirrored.qualityScore - face.qualityScore) <= 4, 'quality')
})

test('The yaw is positive if the nose points to image right', async () => {
  const [profile] = (await pipeline.analyze((await samplePhotograph(2)).bytes)).faces.toSorted(
    (a, b) => Math.abs(b.pose.yaw) - Math.abs(a.pose.yaw),
  )
  // The woman on the left of sample 2 faces the left border.
  assert.ok(profile && profile.boundingBox.left < 640 && profile.pose.yaw < -30)
})

test('Rotating the image clockwise changes only the roll', async () => {
  for (const degrees of [-20, 20]) {
    const bytes = await sharp(portrait).rotate(degrees, { background: '#888' }).png().toBuffer()
    const rotated = largestFace(await pipeline.analyze(bytes))
    assert.ok(Math.abs(rotated.pose.roll - face.pose.roll - degrees) < 4, `roll ${degrees}`)
    assert.ok(Math.abs(rotated.pose.yaw - face.pose.yaw) < 6, `yaw ${degrees}`)
    assert.ok(Math.abs(rotated.pose.pitch - face.pose.pitch) < 6, `pitch ${degrees}`)
  }
})

test('The pitch is negative if the head is bowed', async () => {
  // The woman in the middle of sample 2 faces down, those of sample 3 face the camera.
  const down = (await pipeline.analyze((await samplePhotograph(2)).bytes)).faces[0]
  const level = (await pipeline.analyze((await samplePhotograph(3)).bytes)).faces[1]
  assert.ok(down && level && down.pose.pitch < level.pose.pitch - 10)
})

test('The quality decreases with every step of blur and darkness', async () => {
  const scoreOf = async (image: Sharp): Promise<number> =>
    largestFace(await pipeline.analyze(await image.png().toBuffer(), { minFaceConfidence: 0 }))
      .qualityScore
  const blurred = [face.qualityScore]
  for (const sigma of [2, 4, 8, 12]) blurred.push(await scoreOf(sharp(portrait).blur(sigma)))
  const darkened = [face.qualityScore]
  for (const gain of [0.6, 0.4, 0.25, 0.15])
    darkened.push(await scoreOf(sharp(portrait).linear(gain, 0)))
  for (const scores of [blurred, darkened])
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    )
  assert.ok((blurred.at(-1) ?? 100) < 50 && (darkened.at(-1) ?? 100) < 60)
  assert.ok(face.qualityScore >= 70)
})

test('Faces are sorted by size, faces beyond maxFaces are counted, small faces are not', async () => {
  const { bytes } = await samplePhotograph(5)
  const all = await pipeline.analyze(bytes)
  const areas = all.faces.map(({ boundingBox: { width, height } }) => width * height)
  assert.deepEqual(
    areas,
    areas.toSorted((a, b) => b - a),
  )
  const limited = await pipeline.analyze(bytes, { maxFaces: 1 })
  assert.deepEqual([limited.faceCount, limited.faces], [all.faceCount, all.faces.slice(0, 1)])
  const widths = all.faces.map(({ boundingBox }) => boundingBox.width)
  const minFaceSizePx = Math.max(...widths)
  assert.equal((await pipeline.analyze(bytes, { minFaceSizePx })).faceCount, 1)
})

test('faceSidesPx contains the shorter side of every counted box, largest face first', async () => {
  const { bytes } = await samplePhotograph(5)
  const countMinimums = { minFaceConfidence: 0.6, minFaceSizePx: 1 }
  const all = await pipeline.analyze(bytes, { countMinimums })
  const sides = all.faces.map(({ boundingBox: { width, height } }) => Math.min(width, height))
  assert.equal(sides.length, 5)
  assert.deepEqual(all.faceSidesPx, sides)
  const minFaceSizePx = Math.max(...sides)
  const limited = await pipeline.analyze(bytes, { minFaceSizePx, maxFaces: 1, countMinimums })
  assert.deepEqual([limited.faceSidesPx, limited.countedFaceSidesPx], [[minFaceSizePx], sides])
})

test('Counted faces equal the face count of a second analysis with the count minimums', async () => {
  const { bytes } = await samplePhotograph(5)
  const countMinimums = { minFaceConfidence: 0.6, minFaceSizePx: 1 }
  const { faceCount } = await pipeline.analyze(bytes, countMinimums)
  for (const minFaceSizePx of [40, 10_000]) {
    const plain = await pipeline.analyze(bytes, { minFaceSizePx })
    const always = await pipeline.analyze(bytes, { minFaceSizePx, countMinimums })
    assert.deepEqual([always.faces, always.countedFaces], [plain.faces, faceCount])
    const onlyIfNoFace = { ...countMinimums, onlyIfNoFace: true }
    const fallback = await pipeline.analyze(bytes, { minFaceSizePx, countMinimums: onlyIfNoFace })
    const expected = plain.faceCount > 0 ? undefined : faceCount
    assert.deepEqual([fallback.faces, fallback.countedFaces], [plain.faces, expected])
  }
})

test('A crop is an aligned JPEG of 112×112 with the eyes at their template positions', async () => {
  const rotated = await sharp(portrait).rotate(20, { background: '#888' }).png().toBuffer()
  const { crop } = largestFace(await pipeline.analyze(rotated, { crops: true }))
  assert.ok(crop)
  const bytes = Buffer.from(crop, 'base64')
  assert.deepEqual(bytes.subarray(0, 3), Buffer.from([0xff, 0xd8, 0xff]))
  const { width, height } = await sharp(bytes).metadata()
  assert.deepEqual([width, height], [112, 112])
  const enlarged = await sharp(bytes)
    .resize(448)
    .extend({ top: 112, bottom: 112, left: 112, right: 112, background: '#888' })
    .png()
    .toBuffer()
  const { landmarks, pose } = largestFace(await pipeline.analyze(enlarged))
  assert.ok(Math.abs(pose.roll) < 5)
  assert.ok(
    Math.hypot(landmarks.leftEye.x - 112 - 4 * 38.8, landmarks.leftEye.y - 112 - 4 * 52.2) < 20,
  )
})

test('Concurrent analyses do not affect each other', async () => {
  const { bytes } = await samplePhotograph(1)
  const first = await pipeline.analyze(bytes)
  const [again, other] = await Promise.all([pipeline.analyze(bytes), pipeline.analyze(portrait)])
  assert.deepEqual(again.faces, first.faces)
  assert.deepEqual(largestFace(other), face)
})

test('Every model of the pack passes the self-test', async () => {
  assert.deepEqual(await selfTestModels({ modelsFolder, modelSet: builtinSet }), [])
})
