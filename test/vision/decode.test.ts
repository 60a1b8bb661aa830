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
/** Three women, 960×640, lossless. */
let original: Buffer
/** The analysis of `original`. */
let referenceAnalysis: ImageAnalysis
before(async () => {
  pipeline = await openTestPipeline()
  original = await sharp((await samplePhotograph(1)).bytes)
    .resize(960)
    .png()
    .toBuffer()
  referenceAnalysis = await pipeline.analyze(original)
})
after(() => pipeline.close())

/** Asserts that the analysis has the same faces at the same positions as the reference. */
function assertSameFaces(
  analysis: ImageAnalysis,
  tolerancePx: number,
  reference = referenceAnalysis,
): void {
  assert.deepEqual([analysis.width, analysis.height], [reference.width, reference.height])
  assert.equal(analysis.faceCount, reference.faceCount)
  const fromLeft = (faces: ImageAnalysis['faces']) =>
    faces.toSorted((a, b) => a.boundingBox.left - b.boundingBox.left)
  for (const [index, face] of fromLeft(analysis.faces).entries()) {
    const expected = fromLeft(reference.faces)[index]
    assert.ok(expected)
    assertBoxNear(face.boundingBox, expected.boundingBox, tolerancePx)
    assert.ok(landmarkDistancePx(face, expected) <= tolerancePx, `landmarks of face ${index}`)
  }
}

test('EXIF orientations 1 to 8 of one photograph give the same faces', async () => {
  // The pixels that a camera stores for each orientation tag.
  const transposed = await sharp(original).rotate(90).png().toBuffer()
  const stored = [
    sharp(original),
    sharp(original).flop(),
    sharp(original).rotate(180),
    sharp(original).flip(),
    sharp(transposed).flop(),
    sharp(original).rotate(270),
    sharp(transposed).flip(),
    sharp(original).rotate(90),
  ]
  for (const [index, image] of stored.entries()) {
    const orientation = index + 1
    const bytes = await image.jpeg({ quality: 98 }).withMetadata({ orientation }).toBuffer()
    const analysis = await pipeline.analyze(bytes)
    assert.equal(analysis.orientationApplied, orientation !== 1, `orientation ${orientation}`)
    assertSameFaces(analysis, 2)
  }
})

test('Every colour format gives the same faces', async () => {
  const jpeg = { quality: 98 }
  const formats: Record<string, Buffer> = {
    'progressive JPEG': await sharp(original)
      .jpeg({ ...jpeg, progressive: true })
      .toBuffer(),
    'CMYK JPEG': await sharp(original).toColourspace('cmyk').jpeg(jpeg).toBuffer(),
    '16-bit PNG': await sharp(original).toColourspace('rgb16').png().toBuffer(),
    'interlaced PNG': await sharp(original).png({ progressive: true }).toBuffer(),
    'palette PNG': await sharp(original).png({ palette: true, colours: 256 }).toBuffer(),
    'PNG with alpha': await sharp(original).ensureAlpha(1).png().toBuffer(),
    'sRGB profile': await sharp(original).withIccProfile('srgb').png().toBuffer(),
    'Display P3': await sharp(original).withIccProfile('p3').png().toBuffer(),
  }
  for (const [name, bytes] of Object.entries(formats)) {
    const analysis = await pipeline.analyze(bytes)
    assert.doesNotThrow(() => assertSameFaces(analysis, 3), name)
  }
})

test('An image of the greatest length and the smallest height is analyzed, and one of the reverse', async () => {
  for (const [width, height] of [
    [60_000, 32],
    [32, 60_000],
  ] as const) {
    const bytes = await sharp({ create: { width, height, channels: 3, background: 'grey' } })
      .jpeg()
      .toBuffer()
    assert.equal((await pipeline.analyze(bytes)).faceCount, 0)
  }
})

test('Grey images of 8 and 16 bits give the same faces as three grey channels', async () => {
  const grey = await sharp(original).greyscale().png().toBuffer()
  const reference = await pipeline.analyze(await sharp(grey).toColourspace('srgb').png().toBuffer())
  for (const space of ['b-w', 'grey16'] as const)
    assertSameFaces(
      await pipeline.analyze(await sharp(grey).toColourspace(space).png().toBuffer()),
      2,
      reference,
    )
})

test('Transparent parts are decoded as white', async () => {
  const clear = { r: 0, g: 0, b: 0, alpha: 0 }
  const onClear = await sharp(original).extend({ left: 320, background: clear }).png().toBuffer()
  const white = { r: 255, g: 255, b: 255 }
  const onWhite = await sharp(original).extend({ left: 320, background: white }).png().toBuffer()
  assert.deepEqual((await pipeline.analyze(onClear)).faces, (await pipeline.analyze(onWhite)).faces)
})

test('An animated PNG is decoded as its first frame', async () => {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data])
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    const check = Buffer.alloc(4)
    check.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, check])
  }
  const frames = Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])
  const header = original.subarray(0, 33)
  const animated = [header, chunk('acTL', frames), original.subarray(33)]
  assertSameFaces(await pipeline.analyze(Buffer.concat(animated)), 0)
})

test('Trailing bytes and malformed metadata of real cameras are ignored', async () => {
  const jpeg = await sharp(original).jpeg({ quality: 98 }).toBuffer()
  const segment = (marker: number, data: Buffer): Buffer => {
    const head = Buffer.from([0xff, marker, 0, 0])
    head.writeUInt16BE(data.length + 2, 2)
    return Buffer.concat([jpeg.subarray(0, 2), head, data, jpeg.subarray(2)])
  }
  const badExif = Buffer.concat([Buffer.from('Exif\0\0II*\0\x08\0\0\0'), Buffer.alloc(90, 0x77)])
  const badProfile = Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01'), Buffer.alloc(200, 5)])
  const files = {
    'trailing bytes': Buffer.concat([jpeg, Buffer.from('PK\x03\x04 more')]),
    'padding before the end': Buffer.concat([
      jpeg.subarray(0, -2),
      Buffer.alloc(9),
      jpeg.subarray(-2),
    ]),
    'malformed EXIF': segment(0xe1, badExif),
    'malformed colour profile': segment(0xe2, badProfile),
  }
  for (const [name, bytes] of Object.entries(files))
    assert.equal((await pipeline.analyze(bytes)).faceCount, referenceAnalysis.faceCount, name)
})

test('A structurally damaged image is rejected', async () => {
  const jpeg = await sharp(original).jpeg().toBuffer()
  const flipped = Buffer.from(original)
  flipped.writeUInt8(flipped.readUInt8(original.length >> 1) ^ 1, original.length >> 1)
  const damaged = {
    'JPEG without its end': jpeg.subarray(0, -2),
    'JPEG cut in half': jpeg.subarray(0, jpeg.length >> 1),
    'PNG cut by a tenth': original.subarray(0, Math.floor(0.9 * original.length)),
    'PNG with one flipped bit': flipped,
  }
  for (const [name, bytes] of Object.entries(damaged))
    await assert.rejects(pipeline.analyze(bytes), { code: 'IMAGE_DECODE_FAILED' }, name)
})

test('Boxes of a forty-megapixel image are in its pixels, although it is not decoded at full size', async () => {
  const bytes = await sharp(original).resize(7680, 5120).jpeg({ quality: 60 }).toBuffer()
  const analysis = await pipeline.analyze(bytes)
  assert.deepEqual([analysis.width, analysis.height], [7680, 5120])
  assert.equal(analysis.faceCount, referenceAnalysis.faceCount)
  for (const [index, { boundingBox }] of analysis.faces.entries()) {
    const { left, top, width, height } = referenceAnalysis.faces[index]?.boundingBox ?? boundingBox
    assertBoxNear(
      boundingBox,
      { left: 8 * left, top: 8 * top, width: 8 * width, height: 8 * height },
      32,
    )
  }
  assert.equal(largestFace(analysis).boundingBox.width > 600, true)
})
