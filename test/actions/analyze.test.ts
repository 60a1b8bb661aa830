import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp, { type Sharp } from 'sharp'
import { drawCover, coverShapes, type CoverKind } from '../../eval/occlusion/draw-cover.ts'
import { openMeshAnalyzer } from '../../eval/occlusion/mesh-analyzer.ts'
import type { MeshAnalysis } from '../../eval/occlusion/mesh-analyzer.ts'
import {
  imageItem,
  samplePhotograph,
  startFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'
import { createDataDir } from '../support/facegate/test-facegate.ts'
import { samplePortrait } from '../support/facegate/sample-portrait.ts'
import { evalDataFolder } from '../support/paths.ts'

const attributesFolder = path.join(evalDataFolder, 'attributes/public')

let facegate: TestFacegate
let portrait: Buffer
before(async () => {
  facegate = await startFacegate({ VISION_WORKERS: '1' })
  portrait = await samplePortrait()
})
after(() => facegate[Symbol.asyncDispose]())

async function analyze(bytes: Buffer, params: object = {}) {
  const contentType = bytes[0] === 0x89 ? 'image/png' : 'image/jpeg'
  const { body } = await facegate.run('svc.analyze', { bytes, contentType }, params)
  assert.equal(body.ok, true, JSON.stringify(body.errors))
  return body.data.results[0].value
}

async function analyzeFace(picture: Buffer | Sharp, params: object = {}) {
  const bytes = Buffer.isBuffer(picture) ? picture : await picture.png().toBuffer()
  const { faces } = await analyze(bytes, { minFaceConfidence: 0, ...params })
  assert.ok(faces.length > 0, 'a face is found')
  type Sure = { confidence: number }
  return faces.toSorted((a: Sure, b: Sure) => b.confidence - a.confidence)[0]
}

const assertHasReason = (face: { reasons: string[] }, reason: string): void =>
  assert.ok(face.reasons.includes(reason), `${reason} is not among ${face.reasons.join(', ')}`)

test('a good face is suitable and has no reasons, and enrolment takes it', async () => {
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
  const enrolled = await facegate.run('svc.enroll', { bytes: portrait, contentType: 'image/png' })
  assert.equal(enrolled.body.ok, true)
})

test('the four default features; others when they are named, and unknown ones by name', async () => {
  const [plain] = (await analyze(portrait)).faces
  assert.ok(plain.landmarks && plain.pose && plain.occlusion && plain.quality.components)
  assert.ok(!('liveness' in plain) && !('attributes' in plain))
  const { faces, portrait: checks } = await analyze(portrait, { features: ['quality'] })
  assert.ok(!('landmarks' in faces[0]) && !('occlusion' in faces[0]) && checks === undefined)
  const some = (await analyze(portrait, { features: ['liveness', 'attributes'] })).faces[0]
  assert.ok(!('components' in some.quality))
  assert.ok(['live', 'spoof', 'uncertain'].includes(some.liveness.decision))
  assert.equal(some.attributes.gender.value, 'female')
  assert.deepEqual(some.unavailable, ['glasses', 'mask'])
  const { body } = await facegate.run(
    'svc.analyze',
    { bytes: portrait, contentType: 'image/png' },
    { features: ['quality', 'beauty'] },
  )
  assert.match(body.errors[0].message, /^params\.features\[1\]: "beauty" is none of quality, pose/u)
})

test('the liveness of a face is what svc.liveness says', async () => {
  const { liveness } = await analyzeFace(portrait, {
    features: ['liveness'],
    minFaceConfidence: 0.6,
  })
  const { body } = await facegate.run('svc.liveness', { bytes: portrait, contentType: 'image/png' })
  const { decision, live, score, threshold, reasons } = body.data.results[0].value
  assert.deepEqual(liveness, { decision, live, score, threshold, reasons })
})

test('blur, darkness, glare and flatness are each named, and the score falls step by step', async () => {
  const series: Record<string, readonly Sharp[]> = {
    LOW_SHARPNESS: [2, 4, 8, 12].map((sigma) => sharp(portrait).blur(sigma)),
    LOW_BRIGHTNESS: [0.6, 0.4, 0.25, 0.15].map((gain) => sharp(portrait).linear(gain, 0)),
    HIGH_BRIGHTNESS: [1.6, 2.2, 3].map((gain) => sharp(portrait).linear(gain, 40)),
    LOW_CONTRAST: [0.5, 0.3, 0.15].map((gain) => sharp(portrait).linear(gain, 128 * (1 - gain))),
  }
  for (const [reason, pictures] of Object.entries(series)) {
    const faces = [await analyzeFace(portrait)]
    for (const picture of pictures) faces.push(await analyzeFace(picture))
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

test('a small face, a cut-off one and a turned one are named', async () => {
  assertHasReason(await analyzeFace(sharp(portrait).resize(90)), 'FACE_TOO_SMALL')
  const half = sharp(portrait).extract({ left: 190, top: 0, width: 258, height: 504 })
  assertHasReason(await analyzeFace(half), 'FACE_CUT_OFF')
  const { faces } = await analyze((await samplePhotograph(2)).bytes)
  // The woman on the left of sample 2 looks to the left border.
  const turned = faces.toSorted(
    (a: { pose: { yaw: number } }, b: { pose: { yaw: number } }) => a.pose.yaw - b.pose.yaw,
  )[0]
  assert.ok(turned.pose.yaw < -30)
  assertHasReason(turned, 'EXTREME_POSE')
})

test('what covers a face is noticed, and where', async () => {
  await using close = await analyzeClosely()
  const seen = await close.analyzeImage(portrait)
  const parts: Partial<Record<CoverKind, 'lowerFace' | 'leftEye'>> = {
    blueMask: 'lowerFace',
    blackMask: 'lowerFace',
    redMask: 'lowerFace',
    bar: 'leftEye',
    sunglasses: 'leftEye',
  }
  const free = (await analyzeFace(portrait)).quality.score
  for (const [kind, part] of Object.entries(parts)) {
    const face = await analyzeFace(await coverFace(portrait, seen, kind as CoverKind))
    assertHasReason(face, 'FACE_OCCLUDED')
    assert.ok(face.occlusion[part] >= 0.5, kind)
    assert.ok(face.quality.components.occlusion < 70 && face.quality.score < free, kind)
    assert.ok(!face.reasons.includes('EYES_CLOSED') || part === 'lowerFace')
  }
})

test(
  'of 60 press photographs dark glasses are named, and hardly anything that is not there',
  { skip: existsSync(attributesFolder) ? false : `${attributesFolder} is not here` },
  async () => {
    const files = (await readdir(attributesFolder)).toSorted().slice(0, 60)
    const named = { FACE_OCCLUDED: 0, EYES_CLOSED: 0, LOW_SHARPNESS: 0 }
    for (const file of files) {
      const { faces } = await analyze(await readFile(path.join(attributesFolder, file)))
      for (const reason of Object.keys(named) as (keyof typeof named)[])
        if (faces[0]?.reasons.includes(reason)) named[reason]++
    }
    // Two of the sixty wear dark glasses.
    const covered = named.FACE_OCCLUDED
    assert.ok(covered >= 2 && covered <= 4, `${covered} covered`)
    assert.ok(named.EYES_CLOSED <= 4, `${named.EYES_CLOSED} shut`)
    assert.ok(named.LOW_SHARPNESS <= 4, `${named.LOW_SHARPNESS} blurred`)
  },
)

test('suitable is what enrolment would take; whoever is not has a reason', async () => {
  const group = await samplePhotograph(6)
  const pictures = [
    portrait,
    group.bytes,
    await sharp(portrait).resize(60).png().toBuffer(),
    await sharp(portrait).blur(12).png().toBuffer(),
    await sharp(portrait).linear(0.1, 0).png().toBuffer(),
  ]
  for (const bytes of pictures) {
    const { faces } = await analyze(bytes, { minFaceConfidence: 0, minFaceSize: 1 })
    const contentType = bytes[0] === 0x89 ? 'image/png' : 'image/jpeg'
    const { body } = await facegate.run(
      'svc.enroll',
      { bytes, contentType },
      { duplicateCheck: 'off' },
    )
    const isSuitable = faces.some(
      (face: { suitableForEnrollment: boolean }) => face.suitableForEnrollment,
    )
    assert.equal(isSuitable, body.ok, JSON.stringify(body.errors))
    for (const face of faces)
      assert.ok(face.suitableForEnrollment || face.reasons.length > 0, 'there is a reason')
  }
})

test('LOW_QUALITY of enrolment names the reasons of the analysis', async () => {
  const bytes = await sharp(portrait).blur(4).linear(0.2, 0).png().toBuffer()
  const { body } = await facegate.run(
    'svc.enroll',
    { bytes, contentType: 'image/png' },
    { minQuality: 90 },
  )
  assert.equal(body.errors[0].code, 'LOW_QUALITY')
  const { reasons } = await analyzeFace(bytes, { minFaceConfidence: 0.6 })
  assert.match(body.errors[0].message, new RegExp(`below 90: ${reasons.join(', ')}$`, 'u'))
  assertHasReason({ reasons }, 'LOW_BRIGHTNESS')
})

test('a portrait before a plain wall passes what a street does not', async () => {
  const features = { features: ['portrait'] }
  const street = (await analyze(portrait, features)).portrait
  assert.equal(street.compliant, false)
  type Check = { name: string; value: number; range: { min: number; max: number }; passed: boolean }
  const check = (found: { checks: Check[] }, name: string): Check => {
    const one = found.checks.find((candidate) => candidate.name === name)
    assert.ok(one, name)
    return one
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

test('maxFaces, minima and facePolicy hold as for svc.detect, and a call costs one unit', async () => {
  const { bytes } = await samplePhotograph(6)
  const two = await analyze(bytes, { maxFaces: 2 })
  assert.deepEqual([two.faceCount, two.faces.length], [4, 2])
  assert.equal((await analyze(bytes, { maxFaces: 1 })).faces.length, 1)
  assert.equal((await analyze(bytes, { minFaceSize: 2000 })).faceCount, 0)
  assert.equal((await analyze(bytes, { minQuality: 100 })).faceCount, 0)
  const { body } = await facegate.run(
    'svc.analyze',
    { bytes, contentType: 'image/jpeg' },
    { facePolicy: 'single' },
  )
  assert.equal(body.errors[0].code, 'MULTIPLE_FACES')
})

test('debug says which models ran and how long, and only when asked', async () => {
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
  const one = await debugOf('svc.attributes', { include: ['gender'] })
  assert.equal(one.providers.attributes, 'faceres@1')
  const none = await debugOf('svc.attributes', { include: ['eyesOpen'] })
  assert.equal(none.timingsMs.attributes, 0)
  const all = await debugOf('svc.analyze', { features: ['liveness', 'attributes'] })
  assert.ok(all.providers.liveness && all.scores.liveness >= 0 && all.timingsMs.liveness > 0)
  assert.ok(!('debug' in (await analyze(portrait))))
})

async function analyzeClosely() {
  process.env['DATA_DIR'] = await createDataDir()
  const close = await openMeshAnalyzer()
  return { ...close, [Symbol.asyncDispose]: close.close }
}

async function coverFace(
  bytes: Buffer,
  look: MeshAnalysis | undefined,
  kind: CoverKind,
): Promise<Buffer> {
  assert.ok(look)
  const { points } = look.mesh
  const sitter = { points, skinColour: [205, 160, 140], random: () => 0.5 }
  return drawCover(bytes, look.size, coverShapes(kind, sitter))
}

/** The picture with everything but an ellipse about the head made transparent. */
async function cropHead(bytes: Buffer): Promise<Buffer> {
  const mask = `<svg xmlns="http://www.w3.org/2000/svg" width="448" height="504"><ellipse cx="206" cy="230" rx="135" ry="200"/></svg>`
  const cut = await sharp(Buffer.from(mask)).png().toBuffer()
  return sharp(bytes)
    .ensureAlpha()
    .composite([{ input: cut, blend: 'dest-in' }])
    .png()
    .toBuffer()
}
