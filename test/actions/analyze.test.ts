import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp, { type Sharp } from 'sharp'
import {
  imageItem,
  samplePhotograph,
  sharedFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'
import { closeSharedServices } from '../support/shared-service.ts'
import { samplePortrait } from '../support/facegate/sample-portrait.ts'
import { evalDataFolder } from '../support/paths.ts'

const attributesFolder = path.join(evalDataFolder, 'attributes/public')

let facegate: TestFacegate
let portrait: Buffer
before(async () => {
  facegate = await sharedFacegate()
  portrait = await samplePortrait()
})
after(closeSharedServices)

function run(action: string, bytes: Buffer, params: object = {}) {
  const contentType = bytes[0] === 0x89 ? 'image/png' : 'image/jpeg'
  return facegate.run(action, { bytes, contentType }, params)
}

async function analyze(bytes: Buffer, params: object = {}) {
  const { body } = await run('svc.analyze', bytes, params)
  assert.equal(body.ok, true, JSON.stringify(body.errors))
  return body.data.results[0].value
}

/** Analyzes the face with the highest confidence. */
async function analyzeFace(image: Buffer | Sharp, params: object = {}) {
  const bytes = Buffer.isBuffer(image) ? image : await image.png().toBuffer()
  const { faces } = await analyze(bytes, { minFaceConfidence: 0, ...params })
  assert.ok(faces.length > 0, 'a face is detected')
  type WithConfidence = { confidence: number }
  return faces.toSorted((a: WithConfidence, b: WithConfidence) => b.confidence - a.confidence)[0]
}

const assertHasReason = (face: { reasons: string[] }, reason: string): void =>
  assert.ok(face.reasons.includes(reason), `${reason} is not among ${face.reasons.join(', ')}`)

test('A good face is suitable, has no reasons and can be enrolled', async () => {
  const { faceCount, faces, image } = await analyze(portrait)
  assert.equal(faceCount, 1)
  assert.deepEqual(faces[0].reasons, [])
  assert.equal(faces[0].suitableForEnrollment, true)
  assert.deepEqual(Object.keys(faces[0].quality.components), [
    'sharpness',
    'brightness',
    'contrast',
    'exposure',
    'faceSize',
    'headPose',
    'eyesOpen',
    'mouthClosed',
    'occlusion',
  ])
  for (const value of Object.values(faces[0].quality.components)) assert.ok(Number(value) >= 80)
  assert.ok(image.brightness > 20 && image.brightness < 80 && image.sharpness > 50)
  const enrolled = await run('svc.enroll', portrait)
  assert.equal(enrolled.body.ok, true)
})

test('Four features are the default, others are returned on request, and unknown names are rejected', async () => {
  const [face] = (await analyze(portrait)).faces
  assert.ok(face.landmarks && face.pose && face.occlusion && face.quality.components)
  assert.ok(!('liveness' in face) && !('attributes' in face))
  const { faces, portrait: checks } = await analyze(portrait, { features: ['quality'] })
  assert.ok(!('landmarks' in faces[0]) && !('occlusion' in faces[0]) && checks === undefined)
  const [requested] = (await analyze(portrait, { features: ['liveness', 'attributes'] })).faces
  assert.ok(!('components' in requested.quality))
  assert.ok(['live', 'spoof', 'uncertain'].includes(requested.liveness.decision))
  assert.equal(requested.attributes.gender.value, 'female')
  assert.deepEqual(requested.unavailable, ['glasses', 'mask'])
  const { body } = await run('svc.analyze', portrait, { features: ['quality', 'beauty'] })
  assert.match(body.errors[0].message, /^params\.features\[1\]: must be one of "quality", "pose"/u)
})

test('The liveness of a face equals the result of svc.liveness', async () => {
  const { liveness } = await analyzeFace(portrait, {
    features: ['liveness'],
    minFaceConfidence: 0.6,
  })
  const { body } = await run('svc.liveness', portrait)
  const { decision, live, score, threshold, reasons } = body.data.results[0].value
  assert.deepEqual(liveness, { decision, live, score, threshold, reasons })
})

test('Blur, darkness, glare and low contrast are reported, and the score decreases with each step', async () => {
  const series: Record<string, readonly Sharp[]> = {
    LOW_SHARPNESS: [2, 4, 8, 12].map((sigma) => sharp(portrait).blur(sigma)),
    LOW_BRIGHTNESS: [0.6, 0.4, 0.25, 0.15].map((gain) => sharp(portrait).linear(gain, 0)),
    HIGH_BRIGHTNESS: [1.6, 2.2, 2.6].map((gain) => sharp(portrait).linear(gain, 40)),
    LOW_CONTRAST: [0.5, 0.3, 0.15].map((gain) => sharp(portrait).linear(gain, 128 * (1 - gain))),
  }
  for (const [reason, images] of Object.entries(series)) {
    const faces = [await analyzeFace(portrait)]
    for (const image of images) faces.push(await analyzeFace(image))
    const scores = faces.map(({ quality }) => quality.score)
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
      `${reason}: ${scores.join(', ')}`,
    )
    assertHasReason(faces.at(-1), reason)
    assert.ok(!faces[0].reasons.includes(reason))
  }
})

test('Small, cut-off and turned faces are reported', async () => {
  assertHasReason(await analyzeFace(sharp(portrait).resize(90)), 'FACE_TOO_SMALL')
  const half = sharp(portrait).extract({ left: 190, top: 0, width: 258, height: 504 })
  assertHasReason(await analyzeFace(half), 'FACE_CUT_OFF')
  const { faces } = await analyze((await samplePhotograph(2)).bytes)
  // The woman on the left of sample 2 faces the left border.
  const turned = faces.toSorted(
    (a: { pose: { yaw: number } }, b: { pose: { yaw: number } }) => a.pose.yaw - b.pose.yaw,
  )[0]
  assert.ok(turned.pose.yaw < -30)
  assertHasReason(turned, 'EXTREME_POSE')
})

test(
  'In 60 press photographs dark glasses are reported, with few false reports',
  { skip: existsSync(attributesFolder) ? false : `${attributesFolder} does not exist` },
  async () => {
    const files = (await readdir(attributesFolder)).toSorted().slice(0, 60)
    const counts = { FACE_OCCLUDED: 0, EYES_CLOSED: 0, LOW_SHARPNESS: 0 }
    for (const file of files) {
      const { faces } = await analyze(await readFile(path.join(attributesFolder, file)))
      for (const reason of Object.keys(counts) as (keyof typeof counts)[])
        if (faces[0]?.reasons.includes(reason)) counts[reason]++
    }
    // Two of the 60 people wear dark glasses.
    const occluded = counts.FACE_OCCLUDED
    assert.ok(occluded >= 2 && occluded <= 4, `${occluded} occluded`)
    assert.ok(counts.EYES_CLOSED <= 4, `${counts.EYES_CLOSED} closed`)
    assert.ok(counts.LOW_SHARPNESS <= 4, `${counts.LOW_SHARPNESS} blurred`)
  },
)

test('A face is suitable exactly if svc.enroll accepts it, and an unsuitable face has a reason', async () => {
  const group = await samplePhotograph(6)
  const images = [
    portrait,
    group.bytes,
    await sharp(portrait).resize(60).png().toBuffer(),
    await sharp(portrait).blur(12).png().toBuffer(),
    await sharp(portrait).linear(0.1, 0).png().toBuffer(),
  ]
  for (const bytes of images) {
    const { faces } = await analyze(bytes, { minFaceConfidence: 0, minFaceSize: 1 })
    const { body } = await run('svc.enroll', bytes, { duplicateCheck: 'off' })
    const isSuitable = faces.some(
      (face: { suitableForEnrollment: boolean }) => face.suitableForEnrollment,
    )
    assert.equal(isSuitable, body.ok, JSON.stringify(body.errors))
    for (const face of faces)
      assert.ok(face.suitableForEnrollment || face.reasons.length > 0, 'there is a reason')
  }
})

test('LOW_QUALITY of svc.enroll contains the reasons of svc.analyze', async () => {
  const bytes = await sharp(portrait).blur(4).linear(0.2, 0).png().toBuffer()
  const { body } = await run('svc.enroll', bytes, { minQuality: 90 })
  assert.equal(body.errors[0].code, 'LOW_QUALITY')
  const { reasons } = await analyzeFace(bytes, { minFaceConfidence: 0.6 })
  assert.match(body.errors[0].message, new RegExp(`below 90: ${reasons.join(', ')}$`, 'u'))
  assertHasReason({ reasons }, 'LOW_BRIGHTNESS')
})

test('A portrait with a plain background passes the background check, and one in a street fails it', async () => {
  const features = { features: ['portrait'] }
  const street = (await analyze(portrait, features)).portrait
  assert.equal(street.compliant, false)
  type Check = { name: string; value: number; range: { min: number; max: number }; passed: boolean }
  const check = ({ checks }: { checks: Check[] }, name: string): Check => {
    const named = checks.find((candidate) => candidate.name === name)
    assert.ok(named, name)
    return named
  }
  assert.equal(check(street, 'backgroundDeviation').passed, false)
  assert.equal(check(street, 'faceCount').passed, true)
  const wall = await sharp({
    create: { width: 448, height: 504, channels: 3, background: '#b0b4b8' },
  })
    .composite([{ input: await cropHead(portrait) }])
    .png()
    .toBuffer()
  assert.equal(check((await analyze(wall, features)).portrait, 'backgroundDeviation').passed, true)
  const group = (await analyze((await samplePhotograph(6)).bytes, features)).portrait
  assert.deepEqual(check(group, 'faceCount'), {
    name: 'faceCount',
    value: 4,
    range: { min: 1, max: 1 },
    passed: false,
  })
  const empty = sharp({ create: { width: 320, height: 240, channels: 3, background: '#888' } })
  const none = await analyze(await empty.png().toBuffer(), features)
  assert.deepEqual([none.faceCount, none.faces, none.portrait.compliant], [0, [], false])
})

test('maxFaces, the minima and facePolicy have the same effect as in svc.detect', async () => {
  const { bytes } = await samplePhotograph(6)
  const two = await analyze(bytes, { maxFaces: 2 })
  assert.deepEqual([two.faceCount, two.faces.length], [4, 2])
  assert.equal((await analyze(bytes, { maxFaces: 1 })).faces.length, 1)
  assert.equal((await analyze(bytes, { minFaceSize: 2000 })).faceCount, 0)
  assert.equal((await analyze(bytes, { minQuality: 100 })).faceCount, 0)
  const { body } = await run('svc.analyze', bytes, { facePolicy: 'single' })
  assert.equal(body.errors[0].code, 'MULTIPLE_FACES')
})

test('debug contains the models and their durations, only on request', async () => {
  const images = [imageItem({ bytes: portrait, contentType: 'image/png' })]
  const debugOf = async (action: string, params: object = {}) => {
    const { body } = await facegate.post({ action, debug: true, params: { images, ...params } })
    return body.data.results[0].value.debug
  }
  const detect = await debugOf('svc.detect')
  assert.deepEqual(Object.keys(detect.providers), ['detector', 'landmarks'])
  assert.ok(detect.scores.detector > 0.6 && detect.timingsMs.detect > 0)
  const attributes = await debugOf('svc.attributes')
  assert.equal(
    attributes.providers.attributes,
    'faceres@1+age_gender@1+face_expression@1+emotion@1',
  )
  assert.ok(attributes.timingsMs.attributes > 0)
  const genderOnly = await debugOf('svc.attributes', { include: ['gender'] })
  assert.equal(genderOnly.providers.attributes, 'faceres@1')
  const withoutModels = await debugOf('svc.attributes', { include: ['eyesOpen'] })
  assert.equal(withoutModels.timingsMs.attributes, 0)
  const all = await debugOf('svc.analyze', { features: ['liveness', 'attributes'] })
  assert.ok(all.providers.liveness && all.scores.liveness >= 0 && all.timingsMs.liveness > 0)
  assert.ok(!('debug' in (await analyze(portrait))))
})

/** Makes everything except an ellipse around the head transparent. */
async function cropHead(bytes: Buffer): Promise<Buffer> {
  const mask = `<svg xmlns="http://www.w3.org/2000/svg" width="448" height="504"><ellipse cx="206" cy="230" rx="135" ry="200"/></svg>`
  const ellipse = await sharp(Buffer.from(mask)).png().toBuffer()
  return sharp(bytes)
    .ensureAlpha()
    .composite([{ input: ellipse, blend: 'dest-in' }])
    .png()
    .toBuffer()
}
