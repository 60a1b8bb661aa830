import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { crc32, deflateSync } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'
import { decodeImage } from '../../src/vision/image/decode.ts'

/** Larger than a frame in one direction, so that the image is reduced. */
const size = { width: 4096, height: 64 }
const frameWidth = 2048

let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'facegate-profiles-'))
})
after(() => rm(folder, { recursive: true }))

/** Returns an image whose colours change slowly, and are inside of every colour space below. */
function gradient(): Sharp {
  const pixels = Uint8Array.from({ length: 3 * size.width * size.height }, (_, index) => {
    const x = Math.floor(index / 3) % size.width
    return 120 + 45 * Math.sin(x / 500 + 2 * (index % 3))
  })
  return sharp(pixels, { raw: { ...size, channels: 3 } })
}

/** Returns columns of one pixel, black and white by turns. */
function stripes(): Sharp {
  const pixels = Uint8Array.from({ length: 3 * size.width * size.height }, (_, index) =>
    Math.floor(index / 3) % 2 === 0 ? 0 : 255,
  )
  return sharp(pixels, { raw: { ...size, channels: 3 } })
}

async function decode(bytes: Buffer): Promise<Uint8Array> {
  const image = await decodeImage(bytes, size.width * size.height, 'image')
  const { width, height, pixels } = await image.highResFrame()
  assert.equal(width, frameWidth)
  assert.equal(pixels.length, 3 * width * height)
  return pixels
}

/** Returns pixels that are not at the border. */
const inner = (pixels: Uint8Array): Uint8Array => pixels.subarray(3000, 3300)

function meanDifference(values: Uint8Array, expected: Uint8Array): number {
  const sum = expected.reduce(
    (total, value, index) => total + Math.abs(value - (values[index] ?? Number.NaN)),
    0,
  )
  return sum / expected.length
}

async function srgbProfile(): Promise<Buffer> {
  const { icc } = await sharp(await gradient().withIccProfile('srgb').png().toBuffer()).metadata()
  assert.ok(icc)
  return icc
}

type Primaries = Readonly<Record<string, readonly number[]>>

/** Returns sRGB with other primaries (X, Y and Z of each) and the curve of an exponent. */
async function rgbProfile(gamma: number, primaries: Primaries = {}): Promise<Buffer> {
  const curve = Buffer.concat([Buffer.from('curv\0\0\0\0\0\0\0\x01', 'latin1'), Buffer.alloc(4)])
  curve.writeUInt16BE(Math.round(256 * gamma), 12)
  const original = await srgbProfile()
  const profile = Buffer.concat([original, curve])
  profile.writeUInt32BE(profile.length, 0)
  for (const tag of ['rTRC', 'gTRC', 'bTRC']) {
    const entry = profile.indexOf(tag, 128, 'latin1')
    profile.writeUInt32BE(original.length, entry + 4)
    profile.writeUInt32BE(curve.length, entry + 8)
  }
  for (const [tag, xyz] of Object.entries(primaries)) {
    const at = profile.readUInt32BE(profile.indexOf(tag, 128, 'latin1') + 4)
    for (const [index, value] of xyz.entries())
      profile.writeInt32BE(Math.round(65_536 * value), at + 8 + 4 * index)
  }
  return profile
}

/** Adobe RGB (1998), relative to D50. */
const adobeRgb = {
  rXYZ: [0.6097, 0.3111, 0.0195],
  gXYZ: [0.2053, 0.6257, 0.0609],
  bXYZ: [0.1492, 0.0632, 0.7446],
}

/** Returns a profile of grey levels with the curve of an exponent. */
async function greyProfile(gamma: number): Promise<Buffer> {
  const profile = await rgbProfile(gamma)
  profile.write('GRAY', 16, 'latin1')
  profile.write('kTRC', profile.indexOf('rTRC', 128, 'latin1'), 'latin1')
  return profile
}

/** Inserts a profile into a PNG, without a change of its pixels. */
function embed(png: Buffer, profile: Buffer): Buffer {
  const data = Buffer.concat([Buffer.from('profile\0\0'), deflateSync(profile)])
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from('iCCP'), data, Buffer.alloc(4)])
  chunk.writeUInt32BE(data.length)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4)
  return Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)])
}

test('An image with a profile has the colours of the same image in sRGB', async () => {
  const adobe = join(folder, 'adobe.icc')
  await writeFile(adobe, await rgbProfile(2.2, adobeRgb))
  const jpeg = { quality: 100, chromaSubsampling: '4:4:4' }
  const wide = () => gradient().toColourspace('rgb16')
  const files = {
    'Display P3 PNG': gradient().withIccProfile('p3').png(),
    'Display P3 JPEG': gradient().withIccProfile('p3').jpeg(jpeg),
    'Display P3 PNG with 16 bits': wide().withIccProfile('p3').png(),
    'Display P3 PNG with transparency': gradient().ensureAlpha(1).withIccProfile('p3').png(),
    'Adobe RGB PNG': gradient().withIccProfile(adobe).png(),
    'Adobe RGB JPEG': gradient().withIccProfile(adobe).jpeg(jpeg),
  }
  const expected = await decode(await gradient().png().toBuffer())
  for (const [name, file] of Object.entries(files)) {
    const difference = meanDifference(await decode(await file.toBuffer()), expected)
    assert.ok(difference < 3, `${name}: ${difference}`)
  }
})

test('A CMYK image has the colours that all its pixels have after the conversion', async () => {
  const inks = () => gradient().toColourspace('cmyk')
  for (const image of [inks(), inks().withIccProfile('cmyk')]) {
    const bytes = await image.jpeg({ quality: 100, chromaSubsampling: '4:4:4' }).toBuffer()
    const converted = await sharp(bytes).toColourspace('srgb').png().toBuffer()
    const difference = meanDifference(await decode(bytes), await decode(converted))
    assert.ok(difference < 1, String(difference))
  }
})

test('An image without a profile, or with one of sRGB, has exactly the pixels of its reduction', async () => {
  const reduce = (image: Sharp) => image.resize(frameWidth).flatten({ background: 'white' })
  const alpha = Buffer.alloc(size.width * size.height, 100)
  const raw = { ...size, channels: 1 } as const
  const files = [
    await gradient().png().toBuffer(),
    await gradient().withIccProfile('srgb').png().toBuffer(),
    await gradient().joinChannel(alpha, { raw }).png().toBuffer(),
    await gradient().jpeg().toBuffer(),
  ]
  for (const bytes of files)
    assert.deepEqual(
      await decode(bytes),
      await reduce(sharp(bytes).keepIccProfile()).raw().toBuffer(),
    )
  const grey = await gradient().toColourspace('b-w').png().toBuffer()
  assert.deepEqual(
    await decode(grey),
    await reduce(sharp(grey)).toColourspace('srgb').raw().toBuffer(),
  )
})

test('An image is reduced before its colours are converted', async () => {
  // The mean of black and white in linear light is 188 in sRGB; the mean of the converted values is 128.
  const png = await stripes().png().toBuffer()
  const grey = await stripes().toColourspace('b-w').png().toBuffer()
  const linear = [embed(png, await rgbProfile(1)), embed(grey, await greyProfile(1))]
  for (const bytes of linear) {
    for (const value of inner(await decode(bytes)))
      assert.ok(Math.abs(value - 188) <= 2, String(value))
  }
  const inks = stripes().toColourspace('cmyk').withIccProfile('cmyk')
  const printed = await inks.jpeg({ quality: 100, chromaSubsampling: '4:4:4' }).toBuffer()
  const converted = inner(await decode(await sharp(printed).png().toBuffer()))
  const fromMeanInk = inner(await decode(printed))
  // Half of the ink covers more than half of the paper: its colour is darker than the mean of both.
  assert.ok(fromMeanInk.every((value, index) => value < (converted[index] ?? 0) - 3))
})

/** Returns a profile with a chain of matrices that darken, to which all entries of its table refer. */
async function elementProfile(count: number): Promise<Buffer> {
  const matrix = Buffer.alloc(12 + 4 * 12)
  matrix.write('matf')
  for (const at of [8, 10]) matrix.writeUInt16BE(3, at)
  for (const channel of [0, 1, 2]) matrix.writeFloatBE(0.9, 12 + 16 * channel)
  const chain = Buffer.alloc(16 + 8 * count)
  chain.write('mpet')
  for (const at of [8, 10]) chain.writeUInt16BE(3, at)
  chain.writeUInt32BE(count, 12)
  for (let at = 16; at < chain.length; at += 8) {
    chain.writeUInt32BE(chain.length, at)
    chain.writeUInt32BE(matrix.length, at + 4)
  }
  const base = await rgbProfile(2.2, adobeRgb)
  const profile = Buffer.concat([base, chain, matrix])
  profile.writeUInt32BE(profile.length, 0)
  profile.writeUInt8(4, 8)
  const entry = profile.indexOf('cprt', 128, 'latin1')
  profile.write('D2B0', entry)
  profile.writeUInt32BE(base.length, entry + 4)
  profile.writeUInt32BE(chain.length + matrix.length, entry + 8)
  return profile
}

test('A profile with chains of processing elements is ignored, and rejected for CMYK', async () => {
  const png = await gradient().png().toBuffer()
  const withElements = embed(png, await elementProfile(3))
  const converted = await sharp(withElements).withIccProfile('srgb').raw().toBuffer()
  const original = await sharp(png).raw().toBuffer()
  assert.ok(meanDifference(converted, original) > 20, 'the decoder applies it')
  assert.deepEqual(await decode(withElements), await decode(png))
  const inks = gradient().toColourspace('cmyk').withIccProfile('cmyk')
  const printed = await inks.jpeg().toBuffer()
  printed.write('D2B0', printed.indexOf('cprt', 0, 'latin1'))
  await assert.rejects(
    decode(printed),
    /image\.bytes: the colour profile has processing elements .* convert the image to sRGB/u,
  )
})

/** Inserts a profile into a JPEG, without a change of its pixels. */
function embedInJpeg(jpeg: Buffer, profile: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01'), profile])
  const head = Buffer.from([0xff, 0xe2, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([jpeg.subarray(0, 2), head, content, jpeg.subarray(2)])
}

/** Returns a profile of CMYK whose table of colours states a wrong number of inks. */
async function faultyProfile(): Promise<Buffer> {
  const inks = gradient().toColourspace('cmyk').withIccProfile('cmyk')
  const { icc } = await sharp(await inks.jpeg().toBuffer()).metadata()
  assert.ok(icc)
  icc.writeUInt8(3, icc.readUInt32BE(icc.indexOf('A2B0', 128, 'latin1') + 4) + 8)
  // The table is near the start; a segment of a JPEG has at most 65,535 bytes.
  return icc.subarray(0, 65_000)
}

test('A damaged profile, or one of another kind of image, changes no colours', async () => {
  const rgb = await gradient().png().toBuffer()
  const grey = await gradient().toColourspace('b-w').png().toBuffer()
  const damaged = Buffer.alloc(200, 5)
  for (const profile of [await greyProfile(1), damaged])
    assert.deepEqual(await decode(embed(rgb, profile)), await decode(rgb))
  for (const profile of [await rgbProfile(1), damaged])
    assert.deepEqual(await decode(embed(grey, profile)), await decode(grey))
  const inks = await gradient().toColourspace('cmyk').jpeg({ quality: 100 }).toBuffer()
  for (const profile of [await rgbProfile(1), damaged])
    assert.deepEqual(await decode(embedInJpeg(inks, profile)), await decode(inks))
  const faulty = embedInJpeg(inks, await faultyProfile())
  await assert.rejects(decode(faulty), { code: 'IMAGE_DECODE_FAILED' })
})
