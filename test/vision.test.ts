import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp, { type Sharp } from 'sharp'
import { readLabels } from '../eval/labels.ts'
import { iou, meanOf, type Rect } from '../src/vision/geometry.ts'
import { verifyModels } from '../src/vision/verify.ts'
import type { SeenFace } from '../src/vision/view.ts'
import { samplePhotograph } from './facegate.ts'
import { largest, modelsFolder, openEye, type TestEye } from './look.ts'

const detectionFolder = path.join(import.meta.dirname, '../../shared/eval-data/detection')

let eye: TestEye
/** One woman's face near the camera, cut from a photograph of four: 448×504. */
let portrait: Buffer
let face: SeenFace
before(async () => {
  eye = await openEye()
  portrait = await sharp((await samplePhotograph(6)).bytes)
    .extract({ left: 1380, top: 190, width: 448, height: 504 })
    .png()
    .toBuffer()
  face = largest(await eye.look(portrait))
})
after(() => eye.close())

const rectOf = ({ boundingBox: { left, top, width, height } }: SeenFace): Rect => ({
  x: left,
  y: top,
  width,
  height,
})
const right = ({ boundingBox }: SeenFace): number => boundingBox.left + boundingBox.width

test('every face of the front rows is seen on the sample photographs', async () => {
  const counts = [3, 3, 3, 4, 5, 4]
  for (const [index, count] of counts.entries()) {
    const { bytes } = await samplePhotograph((index + 1) as 1 | 2 | 3 | 4 | 5 | 6)
    const { faceCount, faces } = await eye.look(bytes)
    assert.equal(faceCount, count, `sample ${index + 1}`)
    for (const { boundingBox, landmarks } of faces) {
      const { left, top, width, height } = boundingBox
      const { x, y } = meanOf(Object.values(landmarks))
      assert.ok(Math.abs(x - left - width / 2) < 0.35 * width, 'the box is about the face')
      assert.ok(Math.abs(y - top - height / 2) < 0.25 * height, 'the box is about the face')
    }
  }
})

test(
  'faces are counted right within one on 16 of 18 pictures, and dogs are none',
  { skip: existsSync(detectionFolder) ? false : `${detectionFolder} is not here` },
  async () => {
    let right = 0
    const rows = await readLabels(detectionFolder, ['file', 'face_count'])
    for (const { file = '', face_count: label } of rows) {
      const { faceCount } = await eye.look(await readFile(path.join(detectionFolder, file)))
      if (Math.abs(faceCount - Number(label)) <= 1) right++
      if (file.endsWith('dogs.jpg')) assert.equal(faceCount, 0, 'dogs')
    }
    assert.ok(right >= 16, `${right} of ${rows.length}`)
  },
)

test('left and right are those of the image', () => {
  const { leftEye, rightEye, noseTip, leftMouth, rightMouth } = face.landmarks
  assert.ok(leftEye.x < noseTip.x && noseTip.x < rightEye.x)
  assert.ok(leftMouth.x < rightMouth.x)
  assert.ok(leftEye.y < noseTip.y && noseTip.y < leftMouth.y)
})

test('a mirrored picture mirrors box, yaw and roll, and leaves pitch and quality', async () => {
  const mirrored = largest(await eye.look(await sharp(portrait).flop().png().toBuffer()))
  // BlazeFace itself is not symmetric: on 162 faces the mirrored boxes overlapped by 0.78 or more.
  assert.ok(iou(rectOf(mirrored), { ...rectOf(face), x: 448 - right(face) }) > 0.7, 'box')
  assert.ok(Math.abs(mirrored.pose.yaw + face.pose.yaw) < 4, 'yaw')
  assert.ok(Math.abs(mirrored.pose.roll + face.pose.roll) < 3, 'roll')
  assert.ok(Math.abs(mirrored.pose.pitch - face.pose.pitch) < 4, 'pitch')
  assert.ok(Math.abs(mirrored.qualityScore - face.qualityScore) <= 4, 'quality')
})

test('yaw is positive when the nose points to image right', async () => {
  const [profile] = (await eye.look((await samplePhotograph(2)).bytes)).faces.toSorted(
    (a, b) => Math.abs(b.pose.yaw) - Math.abs(a.pose.yaw),
  )
  // The woman on the left of sample 2 looks to the left border.
  assert.ok(profile && profile.boundingBox.left < 640 && profile.pose.yaw < -30)
})

test('turning the picture clockwise adds to the roll and to nothing else', async () => {
  for (const degrees of [-20, 20]) {
    const bytes = await sharp(portrait).rotate(degrees, { background: '#888' }).png().toBuffer()
    const turned = largest(await eye.look(bytes))
    assert.ok(Math.abs(turned.pose.roll - face.pose.roll - degrees) < 4, `roll ${degrees}`)
    assert.ok(Math.abs(turned.pose.yaw - face.pose.yaw) < 6, `yaw ${degrees}`)
    assert.ok(Math.abs(turned.pose.pitch - face.pose.pitch) < 6, `pitch ${degrees}`)
  }
})

test('pitch is negative when the head is bowed', async () => {
  // The woman in the middle of sample 2 looks down at her lap, those of sample 3 at the camera.
  const down = (await eye.look((await samplePhotograph(2)).bytes)).faces[0]
  const level = (await eye.look((await samplePhotograph(3)).bytes)).faces[1]
  assert.ok(down && level && down.pose.pitch < level.pose.pitch - 10)
})

test('quality falls with blur and with darkness, step by step', async () => {
  const scoreOf = async (image: Sharp): Promise<number> =>
    largest(await eye.look(await image.png().toBuffer(), { minFaceConfidence: 0 })).qualityScore
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

test('the largest come first, the others are counted, small ones are not', async () => {
  const { bytes } = await samplePhotograph(5)
  const all = await eye.look(bytes)
  const areas = all.faces.map(({ boundingBox: { width, height } }) => width * height)
  assert.deepEqual(
    areas,
    areas.toSorted((a, b) => b - a),
  )
  const one = await eye.look(bytes, { maxFaces: 1 })
  assert.deepEqual([one.faceCount, one.faces], [all.faceCount, all.faces.slice(0, 1)])
  const widths = all.faces.map(({ boundingBox }) => boundingBox.width)
  const minFaceSizePx = Math.max(...widths)
  assert.equal((await eye.look(bytes, { minFaceSizePx })).faceCount, 1)
})

test('a crop is an upright JPEG of 112×112 with the eyes where the template has them', async () => {
  const turned = await sharp(portrait).rotate(20, { background: '#888' }).png().toBuffer()
  const { crop } = largest(await eye.look(turned, { crops: true }))
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
  const { landmarks, pose } = largest(await eye.look(enlarged))
  assert.ok(Math.abs(pose.roll) < 5)
  assert.ok(
    Math.hypot(landmarks.leftEye.x - 112 - 4 * 38.8, landmarks.leftEye.y - 112 - 4 * 52.2) < 20,
  )
})

test('looks do not disturb each other', async () => {
  const { bytes } = await samplePhotograph(1)
  const alone = await eye.look(bytes)
  const [again, other] = await Promise.all([eye.look(bytes), eye.look(portrait)])
  assert.deepEqual(again.faces, alone.faces)
  assert.deepEqual(largest(other), face)
})

test('every model of the pack answers its fixed input as it should', async () => {
  assert.deepEqual(await verifyModels(modelsFolder), [])
})
