import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import sharp from 'sharp'
import { decodeImage, decodeJpeg } from './decode.ts'

const size = { width: 83, height: 61 }
const pixels = Uint8Array.from({ length: 3 * size.width * size.height }, (_, index) => {
  const [channel, x, y] = [index % 3, Math.floor(index / 3) % size.width, Math.floor(index / 249)]
  return 128 + 90 * Math.sin(x / (5 + channel)) * Math.cos(y / 7)
})
const image = () => sharp(pixels, { raw: { ...size, channels: 3 } })
const forms = {
  baseline: await image().jpeg({ quality: 90 }).toBuffer(),
  progressive: await image().jpeg({ progressive: true }).toBuffer(),
  'without subsampling': await image().jpeg({ quality: 98, chromaSubsampling: '4:4:4' }).toBuffer(),
  grey: await image().toColourspace('b-w').jpeg().toBuffer(),
}

test('A JPEG of any usual form has the pixels that libvips decodes, within the rounding of the transform', async () => {
  for (const [form, bytes] of Object.entries(forms)) {
    const frame = decodeJpeg(bytes, size)
    assert.ok(frame, form)
    const expected = await sharp(bytes).toColourspace('srgb').raw().toBuffer()
    assert.equal(frame.pixels.length, expected.length, form)
    const differences = expected.map((value, index) => Math.abs(value - (frame.pixels[index] ?? 0)))
    const sum = differences.reduce((total, difference) => total + difference, 0)
    assert.ok(sum / differences.length < 2.5, `${form}: ${sum / differences.length} on average`)
    assert.ok(Math.max(...differences) <= 12, `${form}: ${Math.max(...differences)} at most`)
  }
})

test('A large progressive JPEG is decoded once, and one with a single scan twice if needed', async () => {
  for (const orientation of [undefined, 6])
    for (const progressive of [true, false]) {
      const large = image().resize(2560, 1920, { fit: 'fill' }).jpeg({ progressive })
      const bytes = await large.withMetadata({ ...(orientation && { orientation }) }).toBuffer()
      const { frame, highResFrame } = await decodeImage(bytes, 1e7, 'image')
      assert.equal((await highResFrame()) === frame, progressive)
      assert.equal(Math.max(frame.width, frame.height), progressive ? 2048 : 640)
    }
})

test('A truncated JPEG, one of CMYK and one with another size than stated are not decoded', async () => {
  const { baseline } = forms
  const cmyk = await image().toColourspace('cmyk').jpeg().toBuffer()
  assert.equal(decodeJpeg(baseline.subarray(0, -2), size), undefined)
  assert.equal(decodeJpeg(baseline.subarray(0, baseline.length >> 1), size), undefined)
  assert.equal(decodeJpeg(cmyk, size), undefined)
  for (const other of [
    { width: 84, height: 61 },
    { width: 82, height: 61 },
    { width: 61, height: 83 },
  ])
    assert.equal(decodeJpeg(baseline, other), undefined)
})

test('No damaged JPEG is decoded that libvips rejects', async () => {
  const edits = fc.array(
    fc.record({
      place: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      keepsLength: fc.boolean(),
      inserted: fc.uint8Array({ maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 2 },
  )
  let decoded = 0
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.values(forms)), edits, async (original, changes) => {
      const damaged = changes.reduce((bytes: Buffer, { place, keepsLength, inserted }) => {
        const at = Math.floor(place * bytes.length)
        const end = at + (keepsLength ? inserted.length : 1)
        return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(end)])
      }, original)
      if (!decodeJpeg(damaged, size)) return
      decoded++
      const { data } = await sharp(damaged, { failOn: 'warning' })
        .raw()
        .toBuffer({ resolveWithObject: true })
      assert.ok(data.length > 0)
    }),
    { numRuns: 500 },
  )
  assert.ok(decoded > 20, `${decoded} of 500 were decoded`)
})

test('An image whose EXIF orientation or colour profile must be applied has them applied', async () => {
  const red = sharp({ create: { width: 64, height: 32, channels: 3, background: '#c03020' } })
  const rotated = await red.clone().withMetadata({ orientation: 6 }).jpeg().toBuffer()
  const wide = await red.clone().withIccProfile('p3').jpeg({ quality: 100 }).toBuffer()
  const plain = await red.clone().jpeg({ quality: 100 }).toBuffer()
  const limits = [1e6, 'image'] as const
  const { frame } = await decodeImage(rotated, ...limits)
  assert.deepEqual([frame.width, frame.height], [32, 64])
  const colour = async (bytes: Buffer): Promise<number[]> => {
    const { pixels: values } = (await decodeImage(bytes, ...limits)).frame
    return [...values.subarray(0, 3)]
  }
  const [fromWide, fromPlain] = [await colour(wide), await colour(plain)]
  for (const channel of [0, 1, 2])
    assert.ok(
      Math.abs((fromWide[channel] ?? NaN) - (fromPlain[channel] ?? NaN)) <= 4,
      `${fromWide.join()} and ${fromPlain.join()}`,
    )
})
