import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { drawView, viewKinds, type ViewSource } from '../../../eval/challenge/drawn-views.ts'
import { seededRandom } from '../../../src/lib/random/seeded-random.ts'
import { similarityOf } from '../../support/vision/similarity-of.ts'
import { readRecognizerCalibration } from '../../../src/start/active-models.ts'
import type { FaceResult } from '../../../src/vision/image-analysis.ts'
import type { Landmarks } from '../../../src/vision/landmarks/mesh.ts'
import { judgeFaces as judgeFacesWith } from '../../../src/vision/liveness/challenge/compare-frames.ts'
import { challengeFrameRequest } from '../../../eval/challenge/sequences/frame-request.ts'
import { samplePhotograph } from '../../support/facegate/test-facegate.ts'
import { readBehindSource, readChallengeSource } from '../../support/vision/challenge-source.ts'
import {
  largestFace,
  openTestPipeline,
  type TestPipeline,
} from '../../support/vision/test-pipeline.ts'
import type { ChallengeStep } from '../../../src/lib/liveness/challenge-steps.ts'

const steps = ['turnLeft', 'lookUp', 'turnRight'] as const

let pipeline: TestPipeline
let source: ViewSource
before(async () => {
  pipeline = await openTestPipeline()
  source = await readChallengeSource(pipeline)
})
after(() => pipeline.close())

function kindOf(name: string) {
  const kind = viewKinds.find((each) => each.name === name)
  assert.ok(kind, name)
  return kind
}

async function draw(name: string, step?: ChallengeStep, seed = 1): Promise<Buffer> {
  return drawView(kindOf(name), source, { step, random: seededRandom(seed) })
}

function drawAll(name: string, list: readonly (ChallengeStep | undefined)[]): Promise<Buffer[]> {
  return Promise.all(list.map((step, index) => draw(name, step, index)))
}

async function analyzePictures(pictures: readonly Buffer[]): Promise<FaceResult[]> {
  const faces: FaceResult[] = []
  for (const picture of pictures)
    faces.push(largestFace(await pipeline.analyze(picture, challengeFrameRequest(faces[0]))))
  return faces
}

async function judgeFaces(faces: readonly FaceResult[], list: readonly ChallengeStep[]) {
  const calibration = await readRecognizerCalibration('builtin')
  return judgeFacesWith(faces, list, (a, b) => similarityOf(a, b, calibration))
}

async function judgePictures(pictures: readonly Buffer[], list: readonly ChallengeStep[]) {
  return judgeFaces(await analyzePictures(pictures), list)
}

test('A solid head drawn from a photograph passes three steps, in frames of a real analysis', async () => {
  const pictures = await drawAll('head', [undefined, ...steps])
  const faces = await analyzePictures(pictures)
  const judgement = await judgeFaces(faces, steps)
  assert.deepEqual(judgement.reasons, [], JSON.stringify(judgement))
  assert.deepEqual(
    judgement.steps.map(({ imageIndex }) => imageIndex),
    [1, 2, 3],
  )
  const [left, up, right] = judgement.steps
  assert.ok((left?.yaw ?? 0) > 20 && (up?.pitch ?? 0) > 15 && (right?.yaw ?? 0) < -20)
})

test('Turned frames of the person need no full template, and those of another person are refused', async () => {
  const [front, left, up] = await drawAll('head', [undefined, 'turnLeft', 'lookUp'])
  const behind = await readBehindSource(pipeline)
  const otherLeft = await drawView(kindOf('head'), behind, {
    step: 'turnLeft',
    random: seededRandom(1),
  })
  assert.ok(front && left && up)
  const faces = await analyzePictures([front, left, up])
  assert.ok(faces[0]?.quickTemplate && faces[0].template)
  assert.ok(
    faces.some(({ template }) => !template),
    'the quick comparison accepts a frame',
  )
  assert.deepEqual((await judgeFaces(faces, ['turnLeft', 'lookUp'])).reasons, [])
  const mixed = await analyzePictures([front, otherLeft, up])
  assert.equal(mixed[1]?.certainSimilarity, undefined)
  const { samePerson, reasons } = await judgeFaces(mixed, ['turnLeft', 'lookUp'])
  assert.equal(samePerson, false)
  assert.ok(reasons.includes('DIFFERENT_PERSON'), reasons.join())
})

test('Prints, screens and paper masks that are turned instead do not pass', async () => {
  for (const name of [
    'flat 45',
    'screen 35',
    'bent sideways 40',
    'bent round 50',
    'bent cut-out 45',
  ]) {
    const pictures = await drawAll(name, [undefined, 'turnLeft', 'lookUp'])
    const { passed, reasons } = await judgePictures(pictures, ['turnLeft', 'lookUp'])
    assert.equal(passed, false, name)
    assert.ok(reasons.includes('FLAT_FACE') || reasons.includes('CHALLENGE_NOT_FOLLOWED'), name)
  }
})

test('A frame that was compressed again, moved and brightened is found when it is used twice', async () => {
  const [front, left, up] = await drawAll('head', [undefined, 'turnLeft', 'lookUp'])
  assert.ok(front && left && up)
  const list = ['turnLeft', 'lookUp', 'turnLeft'] as const
  const changed = await sharp(left)
    .extract({ left: 5, top: 3, width: 308, height: 308 })
    .resize(320, 320)
    .linear(1.06, 6)
    .jpeg({ quality: 80 })
    .toBuffer()
  for (const again of [left, changed])
    assert.deepEqual((await judgePictures([front, left, up, again], list)).reasons, [
      'FRAMES_IDENTICAL',
    ])
  const turnedAgain = await draw('head', 'turnLeft', 9)
  assert.deepEqual((await judgePictures([front, left, up, turnedAgain], list)).reasons, [])
})

test('In photographs of turned heads the yaw has the sign of the side that the nose points to', async () => {
  const offAxis: { readonly yaw: number; readonly noseShift: number }[] = []
  for (const n of [1, 2, 3, 4, 5, 6] as const) {
    const { faces } = await pipeline.analyze((await samplePhotograph(n)).bytes, { challenge: true })
    for (const { challenge, landmarks } of faces) {
      const noseShift = shiftOfNose(landmarks)
      if (challenge && Math.abs(challenge.yaw) >= 15)
        offAxis.push({ yaw: challenge.yaw, noseShift })
    }
  }
  assert.ok(offAxis.length >= 2, `${offAxis.length} faces are turned`)
  for (const { yaw, noseShift } of offAxis)
    assert.equal(Math.sign(noseShift), Math.sign(yaw), `${yaw}°, nose at ${noseShift}`)
})

/** Returns how far the nose is to the right of the middle between the eyes, for a head without roll. */
function shiftOfNose({ leftEye, rightEye, noseTip }: Landmarks): number {
  const eyes = { x: rightEye.x - leftEye.x, y: rightEye.y - leftEye.y }
  const nose = {
    x: noseTip.x - (leftEye.x + rightEye.x) / 2,
    y: noseTip.y - (leftEye.y + rightEye.y) / 2,
  }
  return (nose.x * eyes.x + nose.y * eyes.y) / (eyes.x ** 2 + eyes.y ** 2)
}

test('A fast template is of the same model and nearly equal to the full one of the same face', async () => {
  const calibration = await readRecognizerCalibration('builtin')
  const picture = await draw('head')
  const full = largestFace(await pipeline.analyze(picture, { templates: true })).template
  const fast = largestFace(await pipeline.analyze(picture, { templates: 'fast' })).template
  assert.ok(full && fast)
  assert.equal(fast.modelId, full.modelId)
  assert.notDeepEqual(fast.vector, full.vector)
  assert.ok(similarityOf(full, fast, calibration) > 0.95)
})
