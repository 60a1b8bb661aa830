import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import sharp from 'sharp'
import { ActionError } from '../../lib/errors.ts'
import { extraImageTypes, type ExtraImageType } from '../../lib/image-types/image-types.ts'
import { configureDecoder, openImage } from './decode.ts'
import { framesMax, requireDecoders } from './extra-types.ts'
import type { ImageLimits } from './input/encoded-image.ts'
import { avifPixelsMax, slowTypePixelsMax } from './input/pixel-limits.ts'

before(() => {
  requireDecoders(extraImageTypes)
  configureDecoder(extraImageTypes)
})

const width = 200
const height = 150
const limits: ImageLimits = {
  bytesMax: 8 << 20,
  pixelsMax: width * height,
  sideMinPx: 32,
  extraTypes: extraImageTypes,
}

/** Creates an image of noise, which no encoder can compress to a few bytes. */
function createImage(type: ExtraImageType, [columns, rows]: readonly [number, number]) {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const
  const create = {
    width: columns,
    height: rows,
    channels: 3,
    background: '#888888',
    noise,
  } as const
  return sharp({ create }).toFormat(type).toBuffer()
}

/** Returns the size of the decoded image, or the code of the error. */
async function open(type: ExtraImageType, bytes: Buffer, changed: Partial<ImageLimits> = {}) {
  const image = { bytes: bytes.toString('base64'), contentType: `image/${type}` } as const
  try {
    const opened = await openImage(image, { ...limits, ...changed }, 'params.images[0]')
    return `${opened.width}×${opened.height}`
  } catch (error) {
    assert.ok(error instanceof ActionError, String(error))
    assert.match(error.message, /^params\.images\[0\]\.(?:bytes|contentType): /u)
    return error.code
  }
}

test('Each type is decoded at every limit, and refused one pixel or byte beyond it', async () => {
  for (const type of extraImageTypes) {
    const bytes = await createImage(type, [width, height])
    assert.equal(await open(type, bytes), '200×150', type)
    assert.equal(await open(type, bytes, { bytesMax: bytes.length }), '200×150', type)
    assert.equal(await open(type, bytes, { bytesMax: bytes.length - 3 }), 'IMAGE_TOO_LARGE', type)
    const wider = await createImage(type, [width + 1, height])
    assert.equal(await open(type, wider), 'IMAGE_TOO_LARGE', type)
    assert.equal(await open(type, await createImage(type, [32, 100])), '32×100', type)
    assert.equal(await open(type, await createImage(type, [31, 100])), 'IMAGE_TOO_SMALL', type)
  }
})

test('A truncated file of each type is refused at every length', async () => {
  for (const type of extraImageTypes) {
    const bytes = await createImage(type, [width, height])
    // The last byte of a GIF only ends the file; all frames are complete before it.
    const lengths = [0.1, 0.3, 0.6, 0.9, 0.99].map((share) => Math.floor(share * bytes.length))
    for (const length of [...lengths, bytes.length - 2]) {
      const code = await open(type, bytes.subarray(0, length))
      assert.equal(code, 'IMAGE_DECODE_FAILED', `${type} ${length} of ${bytes.length}`)
    }
  }
})

test('A type that is not enabled, or not the declared one, is refused with the accepted types', async () => {
  const webp = await createImage('webp', [width, height])
  assert.equal(await open('webp', webp, { extraTypes: ['gif'] }), 'UNSUPPORTED_IMAGE_TYPE')
  assert.equal(await open('gif', webp), 'UNSUPPORTED_IMAGE_TYPE')
  const image = { bytes: webp.toString('base64'), contentType: 'image/webp' } as const
  await assert.rejects(openImage(image, { ...limits, extraTypes: ['gif', 'avif'] }, 'image'), {
    message: 'image.bytes: WebP is not supported; send JPEG, PNG, GIF or AVIF',
  })
})

test('The size that a header declares is refused before any pixel is decoded', async () => {
  const gif = await createImage('gif', [64, 64])
  // The logical screen and the frame of a GIF, and the only strip of a TIFF.
  for (const offset of [6, 8]) gif.writeUInt16LE(65_535, offset)
  // The frame follows the colour table, in which any byte may equal its marker, and the options.
  const tableBytes = 3 * 2 ** (((gif[10] ?? 0) % 8) + 1)
  const frame = gif.indexOf(0x2c, 13 + tableBytes)
  for (const offset of [frame + 5, frame + 7]) gif.writeUInt16LE(65_535, offset)
  assert.equal(await open('gif', gif), 'IMAGE_TOO_LARGE')
  assert.equal(await open('tiff', createTiff({ size: 100_000 })), 'IMAGE_TOO_LARGE')
})

test('Each type has its own limit of pixels, which IMAGE_PIXELS_MAX can only lower', async () => {
  const widths = { webp: 4000, gif: 4000, avif: 3840, tiff: 4000 }
  for (const type of extraImageTypes) {
    const columns = widths[type]
    const edge = (type === 'avif' ? avifPixelsMax : slowTypePixelsMax) / columns
    for (const [rows, code] of [
      [edge, `${columns}×${edge}`],
      [edge + 1, 'IMAGE_TOO_LARGE'],
    ] as const) {
      const create = { width: columns, height: rows, channels: 3, background: '#888888' } as const
      const bytes = await sharp({ create }).toFormat(type, { effort: 1 }).toBuffer()
      assert.equal(await open(type, bytes, { pixelsMax: 40_000_000 }), code, type)
    }
  }
})

test('Of an animation only the first frame is decoded, and the number of frames is limited', async () => {
  const raw = Buffer.concat([10, 120, 230].map((grey) => Buffer.alloc(64 * 64 * 3, grey)))
  const frames = sharp(raw, { raw: { width: 64, height: 64 * 3, channels: 3, pageHeight: 64 } })
  for (const type of ['gif', 'webp'] as const) {
    const bytes = await frames.clone().toFormat(type).toBuffer()
    assert.equal((await sharp(bytes).metadata()).pages, 3, type)
    const image = { bytes: bytes.toString('base64'), contentType: `image/${type}` } as const
    const { frame } = await openImage(image, limits, 'image')
    assert.deepEqual([frame.width, frame.height], [64, 64])
    assert.ok(Math.abs((frame.pixels[0] ?? 0) - 10) < 4, type)
  }
  assert.equal(await open('tiff', createTiff({ pages: framesMax })), '64×64')
  assert.equal(await open('tiff', createTiff({ pages: framesMax + 1 })), 'IMAGE_TOO_LARGE')
})

test('A JPEG whose first segment begins like a file type box is no AVIF', async () => {
  const comment = Buffer.alloc(2 + 0x6674)
  comment.write('\xff\xfeftypavif', 'latin1')
  const create = { width: 64, height: 64, channels: 3, background: '#888888' } as const
  const jpeg = await sharp({ create }).jpeg().toBuffer()
  const bytes = Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)])
  assert.equal((await sharp(bytes).metadata()).format, 'jpeg')
  assert.equal(await open('avif', bytes), 'UNSUPPORTED_IMAGE_TYPE')
})

test('Samples of other sizes than 8 and 16 bits, and more channels, are refused', async () => {
  assert.equal(await open('tiff', createTiff({ bits: 16 })), '64×64')
  assert.equal(
    await open('tiff', createTiff({ bits: 32, sampleFormat: 3 })),
    'UNSUPPORTED_IMAGE_TYPE',
  )
  assert.equal(await open('tiff', createTiff({ channels: 5 })), 'UNSUPPORTED_IMAGE_TYPE')
})

test('A header with any byte changed is refused or decoded, and never a fault', async () => {
  for (const type of extraImageTypes) {
    const bytes = await createImage(type, [40, 40])
    for (let offset = 0; offset < Math.min(bytes.length, 160); offset += 2) {
      const changed = Buffer.from(bytes)
      changed[offset] = (changed[offset] ?? 0) ^ 0xff
      await open(type, changed)
    }
  }
})

type TiffOptions = {
  readonly size?: number
  readonly pages?: number
  readonly bits?: number
  readonly channels?: number
  readonly sampleFormat?: number
}

/** Creates an uncompressed grey TIFF; all pages share the pixels after the header. */
function createTiff({
  size = 64,
  pages = 1,
  bits = 8,
  channels = 1,
  sampleFormat = 1,
}: TiffOptions) {
  const pixelBytes = (64 * 64 * bits * channels) / 8
  const bitsOffset = 8 + pixelBytes
  const directoriesOffset = bitsOffset + 2 * Math.max(channels, 2)
  const entries = [
    [256, 4, 1, size],
    [257, 4, 1, size],
    [258, 3, channels, channels > 2 ? bitsOffset : bits],
    [259, 3, 1, 1],
    [262, 3, 1, 1],
    [273, 4, 1, 8],
    [277, 3, 1, channels],
    [278, 4, 1, size],
    [279, 4, 1, pixelBytes],
    [339, 3, 1, sampleFormat],
  ]
  const directoryBytes = 2 + entries.length * 12 + 4
  const tiff = Buffer.alloc(directoriesOffset + pages * directoryBytes)
  tiff.write('II*\0', 'latin1')
  tiff.writeUInt32LE(directoriesOffset, 4)
  for (let channel = 0; channel < channels; channel++)
    tiff.writeUInt16LE(bits, bitsOffset + 2 * channel)
  for (let page = 0; page < pages; page++) {
    const start = directoriesOffset + page * directoryBytes
    tiff.writeUInt16LE(entries.length, start)
    for (const [index, [tag = 0, type = 0, count = 0, value = 0]] of entries.entries()) {
      const offset = start + 2 + index * 12
      tiff.writeUInt16LE(tag, offset)
      tiff.writeUInt16LE(type, offset + 2)
      tiff.writeUInt32LE(count, offset + 4)
      if (type === 3 && count < 3) tiff.writeUInt16LE(value, offset + 8)
      else tiff.writeUInt32LE(value, offset + 8)
    }
    const next = page + 1 < pages ? start + directoryBytes : 0
    tiff.writeUInt32LE(next, start + directoryBytes - 4)
  }
  return tiff
}
