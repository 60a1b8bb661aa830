import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { samplePhotograph } from '../support/facegate/test-facegate.ts'
import {
  assertBoxNear,
  landmarkDistancePx,
  largestFace,
  openTestPipeline,
  type TestPipeline,
} from '../support/vision/test-pipeline.ts'
import type { ImageAnalysis } from '../../src/vision/image-analysis.ts'

let pipeline: TestPipeline
/** Three women, 960×640, without a loss, and how it is seen. */
let upright: Buffer
let referenceAnalysis: ImageAnalysis
before(async () => {
  pipeline = await openTestPipeline()
  upright = await sharp((await samplePhotograph(1)).bytes)
    .resize(960)
    .png()
    .toBuffer()
  referenceAnalysis = await pipeline.analyze(upright)
})
after(() => pipeline.close())

/** Holds that the same faces are seen at the same places. */
function assertSameFaces(
  view: ImageAnalysis,
  tolerancePx: number,
  reference = referenceAnalysis,
): void {
  assert.deepEqual([view.width, view.height], [reference.width, reference.height])
  assert.equal(view.faceCount, reference.faceCount)
  const byPlace = (faces: ImageAnalysis['faces']) =>
    faces.toSorted((a, b) => a.boundingBox.left - b.boundingBox.left)
  for (const [index, face] of byPlace(view.faces).entries()) {
    const expected = byPlace(reference.faces)[index]
    assert.ok(expected)
    assertBoxNear(face.boundingBox, expected.boundingBox, tolerancePx)
    assert.ok(landmarkDistancePx(face, expected) <= tolerancePx, `landmarks of face ${index}`)
  }
}

test('EXIF orientations 1 to 8 of one photograph give the same faces in the upright frame', async () => {
  // What a camera stores when its display turns and mirrors it back by the tag.
  const transposed = await sharp(upright).rotate(90).png().toBuffer()
  const stored = [
    sharp(upright),
    sharp(upright).flop(),
    sharp(upright).rotate(180),
    sharp(upright).flip(),
    sharp(transposed).flop(),
    sharp(upright).rotate(270),
    sharp(transposed).flip(),
    sharp(upright).rotate(90),
  ]
  for (const [index, image] of stored.entries()) {
    const orientation = index + 1
    const bytes = await image.jpeg({ quality: 98 }).withMetadata({ orientation }).toBuffer()
    const view = await pipeline.analyze(bytes)
    assert.equal(view.orientationApplied, orientation !== 1, `orientation ${orientation}`)
    assertSameFaces(view, 2)
  }
})

test('every way to store colours shows the same faces', async () => {
  const jpeg = { quality: 98 }
  const ways: Record<string, Buffer> = {
    'progressive JPEG': await sharp(upright)
      .jpeg({ ...jpeg, progressive: true })
      .toBuffer(),
    'CMYK JPEG': await sharp(upright).toColourspace('cmyk').jpeg(jpeg).toBuffer(),
    '16-bit PNG': await sharp(upright).toColourspace('rgb16').png().toBuffer(),
    'interlaced PNG': await sharp(upright).png({ progressive: true }).toBuffer(),
    'palette PNG': await sharp(upright).png({ palette: true, colours: 256 }).toBuffer(),
    'PNG with alpha': await sharp(upright).ensureAlpha(1).png().toBuffer(),
    'Display P3': await sharp(upright).withIccProfile('p3').png().toBuffer(),
  }
  for (const [name, bytes] of Object.entries(ways)) {
    const view = await pipeline.analyze(bytes)
    assert.doesNotThrow(() => assertSameFaces(view, 3), name)
  }
})

test('grey of 8 and of 16 bits is seen as the same grey in three channels', async () => {
  const grey = await sharp(upright).greyscale().png().toBuffer()
  const reference = await pipeline.analyze(await sharp(grey).toColourspace('srgb').png().toBuffer())
  for (const space of ['b-w', 'grey16'] as const)
    assertSameFaces(
      await pipeline.analyze(await sharp(grey).toColourspace(space).png().toBuffer()),
      2,
      reference,
    )
})

test('transparent parts are white', async () => {
  const clear = { r: 0, g: 0, b: 0, alpha: 0 }
  const onClear = await sharp(upright).extend({ left: 320, background: clear }).png().toBuffer()
  const white = { r: 255, g: 255, b: 255 }
  const onWhite = await sharp(upright).extend({ left: 320, background: white }).png().toBuffer()
  assert.deepEqual((await pipeline.analyze(onClear)).faces, (await pipeline.analyze(onWhite)).faces)
})

test('an animated PNG is seen as its first frame', async () => {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data])
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    const check = Buffer.alloc(4)
    check.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, check])
  }
  const frames = Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])
  const header = upright.subarray(0, 33)
  const animated = [header, chunk('acTL', frames), upright.subarray(33)]
  assertSameFaces(await pipeline.analyze(Buffer.concat(animated)), 0)
})

test('what real cameras leave in their files does no harm', async () => {
  const jpeg = await sharp(upright).jpeg({ quality: 98 }).toBuffer()
  const segment = (marker: number, data: Buffer): Buffer => {
    const head = Buffer.from([0xff, marker, 0, 0])
    head.writeUInt16BE(data.length + 2, 2)
    return Buffer.concat([jpeg.subarray(0, 2), head, data, jpeg.subarray(2)])
  }
  const badExif = Buffer.concat([Buffer.from('Exif\0\0II*\0\x08\0\0\0'), Buffer.alloc(90, 0x77)])
  const badProfile = Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01'), Buffer.alloc(200, 5)])
  const odd = {
    'trailing bytes': Buffer.concat([jpeg, Buffer.from('PK\x03\x04 more')]),
    'padding before the end': Buffer.concat([
      jpeg.subarray(0, -2),
      Buffer.alloc(9),
      jpeg.subarray(-2),
    ]),
    'malformed EXIF': segment(0xe1, badExif),
    'malformed colour profile': segment(0xe2, badProfile),
  }
  for (const [name, bytes] of Object.entries(odd))
    assert.equal((await pipeline.analyze(bytes)).faceCount, referenceAnalysis.faceCount, name)
})

test('damage to the structure is refused, so that no half picture is compared', async () => {
  const jpeg = await sharp(upright).jpeg().toBuffer()
  const flipped = Buffer.from(upright)
  flipped.writeUInt8(flipped.readUInt8(upright.length >> 1) ^ 1, upright.length >> 1)
  const damaged = {
    'JPEG without its end': jpeg.subarray(0, -2),
    'JPEG cut in half': jpeg.subarray(0, jpeg.length >> 1),
    'PNG cut by a tenth': upright.subarray(0, Math.floor(0.9 * upright.length)),
    'PNG with one flipped bit': flipped,
  }
  for (const [name, bytes] of Object.entries(damaged))
    await assert.rejects(pipeline.analyze(bytes), { code: 'IMAGE_DECODE_FAILED' }, name)
})

test('forty megapixels are not decoded at full size, and boxes are still those of the picture', async () => {
  const bytes = await sharp(upright).resize(7680, 5120).jpeg({ quality: 60 }).toBuffer()
  const view = await pipeline.analyze(bytes)
  assert.deepEqual([view.width, view.height], [7680, 5120])
  assert.equal(view.faceCount, referenceAnalysis.faceCount)
  for (const [index, { boundingBox }] of view.faces.entries()) {
    const { left, top, width, height } = referenceAnalysis.faces[index]?.boundingBox ?? boundingBox
    assertBoxNear(
      boundingBox,
      { left: 8 * left, top: 8 * top, width: 8 * width, height: 8 * height },
      32,
    )
  }
  assert.equal(largestFace(view).boundingBox.width > 600, true)
})
