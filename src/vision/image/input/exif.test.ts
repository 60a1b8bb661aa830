import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import sharp from 'sharp'
import {
  contentTypeOf,
  extraImageTypes,
  type ImageFileType,
} from '../../../lib/image-types/image-types.ts'
import { configureDecoder, openImage } from '../decode.ts'
import { erasePointers, eraseTags } from './exif.ts'

before(() => configureDecoder(extraImageTypes))

/** Four quarters of different colours, so that each orientation differs. */
const quarters = sharp(
  Buffer.from(
    Array.from({ length: 64 * 32 }, (_, index) => {
      const [isRight, isLower] = [index % 64 >= 32, index >= 64 * 16]
      return [isRight ? 220 : 30, isLower ? 200 : 40, isRight === isLower ? 210 : 20]
    }).flat(),
  ),
  { raw: { width: 64, height: 32, channels: 3 } },
)
const plain = {
  JPEG: await quarters.clone().jpeg({ quality: 95 }).toBuffer(),
  PNG: await quarters.clone().png().toBuffer(),
  WebP: await quarters.clone().withMetadata({ orientation: 1 }).webp({ quality: 95 }).toBuffer(),
}
const jpegPrefix = Buffer.from('Exif\0\0')

type Entry = readonly [tag: number, type: number, count: number, value: number]
const orientationOf = (value: number): Entry => [0x0112, 3, 1, value]

/** Creates TIFF data of one directory at `start`. */
function tiffOf(entries: readonly Entry[], isLittleEndian = false, next = 0, start = 8): Buffer {
  const tiff = Buffer.alloc(start + 2 + 12 * entries.length + 4)
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.length)
  tiff.write(isLittleEndian ? 'II*\0' : 'MM\0*')
  view.setUint32(4, start, isLittleEndian)
  view.setUint16(start, entries.length, isLittleEndian)
  for (const [index, [tag, type, count, value]] of entries.entries()) {
    const at = start + 2 + 12 * index
    view.setUint16(at, tag, isLittleEndian)
    view.setUint16(at + 2, type, isLittleEndian)
    view.setUint32(at + 4, count, isLittleEndian)
    if (type === 1) view.setUint8(at + 8, value)
    else if (type === 3) view.setUint16(at + 8, value, isLittleEndian)
    else view.setUint32(at + 8, value, isLittleEndian)
  }
  view.setUint32(tiff.length - 4, next, isLittleEndian)
  return tiff
}

const app1 = (data: Buffer) =>
  Buffer.concat([Buffer.of(0xff, 0xe1, (data.length + 2) >> 8, (data.length + 2) & 255), data])

function pngChunk(data: Buffer): Buffer {
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from('eXIf'), data, Buffer.alloc(4)])
  chunk.writeUInt32BE(data.length)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4)
  return chunk
}

function riffChunk(name: string, data: Buffer): Buffer {
  const head = Buffer.from(`${name}\0\0\0\0`)
  head.writeUInt32LE(data.length, 4)
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
}

function insert(bytes: Buffer, at: number, parts: readonly Buffer[]): Buffer {
  return Buffer.concat([bytes.subarray(0, at), ...parts, bytes.subarray(at)])
}

/** Each function creates an image with EXIF blocks. */
const withExif = {
  JPEG: (...blocks: Buffer[]) =>
    insert(
      plain.JPEG,
      2,
      blocks.map((block) => app1(Buffer.concat([jpegPrefix, block]))),
    ),
  PNG: (...blocks: Buffer[]) => insert(plain.PNG, 33, blocks.map(pngChunk)),
  WebP: (...blocks: Buffer[]) => {
    const pixels = plain.WebP.subarray(12, plain.WebP.indexOf('EXIF'))
    const chunks = blocks.map((block) => riffChunk('EXIF', block))
    return riffChunk('RIFF', Buffer.concat([Buffer.from('WEBP'), pixels, ...chunks]))
  },
}
const types = ['JPEG', 'PNG', 'WebP'] as const

const limits = { bytesMax: 1e6, pixelsMax: 1e6, sideMinPx: 8, extraTypes: extraImageTypes }

/** Opens an image as the service does. */
function open(bytes: Buffer) {
  const contentType = contentTypeOf(bytes)
  assert.ok(contentType)
  return openImage({ bytes: bytes.toString('base64'), contentType }, limits, 'image')
}

/** Exif, GPS, Interoperability and MakerNote, each with a pointer to its own directory. */
const pointerTags = [0x8769, 0x8825, 0xa005, 0x927c]
const pointers = pointerTags.map((tag): Entry => [tag, 4, 1, 8])

/** Returns whether two bytes at any position are one of the tags, in any byte order. */
function hasPointer(exif: Buffer): boolean {
  return pointerTags.some((tag) =>
    [Buffer.of(tag >> 8, tag & 255), Buffer.of(tag & 255, tag >> 8)].some((pair) =>
      exif.includes(pair),
    ),
  )
}

/** Returns the EXIF data that the decoder reads after the pointers are erased. */
async function exifAfter(bytes: Buffer, type: ImageFileType): Promise<Buffer | undefined> {
  erasePointers(bytes, type)
  return (await sharp(bytes).metadata()).exif
}

test('Each of the eight orientations is applied in every type and byte order', async () => {
  for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const image = quarters.clone().withMetadata({ orientation })
    const files: Buffer[] = [await image.tiff().toBuffer(), await image.webp().toBuffer()]
    files.push(await image.jpeg().toBuffer(), await image.png().toBuffer())
    // A pointer to a directory without entries, as cameras write it.
    const entries: readonly Entry[] = [orientationOf(orientation), [0x8769, 4, 1, 34]]
    for (const type of types)
      for (const isLittleEndian of [true, false])
        files.push(withExif[type](tiffOf(entries, isLittleEndian)))
    for (const bytes of files) {
      const name = `${contentTypeOf(bytes)} ${orientation}`
      const expected = sharp(bytes).autoOrient().raw()
      const { data, info } = await expected.toBuffer({ resolveWithObject: true })
      assert.equal((await sharp(bytes).metadata()).orientation, orientation, name)
      const { frame, orientationApplied } = await open(bytes)
      assert.deepEqual([frame.width, frame.height], [info.width, info.height], name)
      assert.equal(orientationApplied, orientation > 1, name)
      const differences = data.map((value, index) => Math.abs(value - (frame.pixels[index] ?? 0)))
      const sum = differences.reduce((total, difference) => total + difference, 0)
      assert.ok(sum / data.length < 4, `${name}: ${sum / data.length}`)
    }
  }
})

test('A tag is erased at any position and in both byte orders, and nothing else', () => {
  for (const tag of pointerTags)
    for (const pair of [
      [tag >> 8, tag & 255],
      [tag & 255, tag >> 8],
    ])
      for (const position of [0, 1, 2, 5]) {
        const exif = Buffer.alloc(7, 1)
        exif.set(pair, position)
        eraseTags(exif)
        const expected = Buffer.alloc(7, 1)
        assert.deepEqual(exif, expected.fill(0, position, position + 2), `${tag} ${position}`)
      }
  for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8])
    for (const isLittleEndian of [true, false]) {
      const exif = tiffOf([orientationOf(orientation)], isLittleEndian)
      const original = Buffer.from(exif)
      eraseTags(exif)
      assert.deepEqual(exif, original)
    }
  const overlapping = Buffer.of(0x87, 0x69, 0x87, 0x69, 0x87)
  eraseTags(overlapping)
  assert.equal(hasPointer(overlapping), false)
})

test('No pointer to another directory remains in any EXIF block', async () => {
  for (const isLittleEndian of [true, false])
    for (const type of types) {
      const block = tiffOf([...pointers, orientationOf(6)], isLittleEndian, 8)
      const bytes = withExif[type](block, block, block)
      const exif = await exifAfter(bytes, type)
      assert.ok(exif, type)
      assert.equal(hasPointer(exif), false, type)
      assert.equal(bytes.includes(block.subarray(10)), false, type)
    }
})

test('EXIF is found after the pixels of a PNG and a JPEG, and within a frame of a WebP', async () => {
  const block = tiffOf(pointers)
  const bytes = {
    JPEG: insert(plain.JPEG, plain.JPEG.length - 2, [app1(Buffer.concat([jpegPrefix, block]))]),
    PNG: insert(plain.PNG, plain.PNG.length - 12, [pngChunk(block)]),
  }
  for (const type of ['JPEG', 'PNG'] as const) {
    erasePointers(bytes[type], type)
    assert.equal(bytes[type].includes(block.subarray(10)), false, type)
  }
  const raw = { width: 64, height: 128, channels: 3, pageHeight: 64 } as const
  const noise = Buffer.from(Array.from({ length: 64 * 128 * 3 }, (_, index) => (index * 37) % 251))
  const animation = await sharp(noise, { raw }).webp().toBuffer()
  const start = animation.indexOf('ANMF')
  const length = animation.readUInt32LE(start + 4)
  const end = start + 8 + length + (length % 2)
  const harmless = tiffOf([[0x8769, 4, 1, 26]])
  const nested = insert(animation, end, [riffChunk('EXIF', harmless)])
  nested.writeUInt32LE(end - start + harmless.length, start + 4)
  nested.writeUInt32LE(nested.length - 8, 4)
  // The flag of EXIF in the header.
  nested[20] = (nested[20] ?? 0) | 8
  assert.deepEqual((await sharp(nested).metadata()).exif, harmless, 'the decoder reads it')
  const exif = await exifAfter(nested, 'WebP')
  assert.ok(exif)
  assert.equal(hasPointer(exif), false)
})

test('The decoder finds no EXIF item of an AVIF, whatever the version of its entry', async () => {
  const bytes = await quarters.clone().withMetadata({ orientation: 6 }).avif().toBuffer()
  assert.ok((await sharp(bytes).metadata()).exif)
  const entry = bytes.indexOf('Exif') - 12
  assert.equal(bytes.toString('latin1', entry, entry + 4), 'infe')
  for (const name of ['Exif', 'exif', 'EXIF']) {
    const renamed = Buffer.from(bytes)
    renamed.write(name, entry + 12)
    assert.equal(await exifAfter(renamed, 'AVIF'), undefined, name)
  }
  const third = Buffer.from('....infe\u0003\0\0\0\0\0\0\u0001\0\0Exif....')
  for (const id of ['\0\u0001', '\0\0\0\u0001']) {
    const large = Buffer.from(`\0\0\0\u0001infe\0\0\0\0\0\0\0\u0020\u0002\0\0\0${id}\0\0Exif....`)
    erasePointers(large, 'AVIF')
    assert.equal(large.indexOf('Exif'), -1, 'its size has 64 bits')
  }
  const mini = Buffer.from('\0\0\0\u0010ftypavif....\0\0\0\u0010mini........')
  const pixels = Buffer.from('................Exif....mini')
  for (const file of [third, mini, pixels]) erasePointers(file, 'AVIF')
  assert.equal(third.toString('latin1', 18, 22), 'free')
  assert.equal(mini.toString('latin1', 20, 24), 'free')
  assert.equal(pixels.toString(), '................Exif....mini', 'not the name of a box')
})

test('The pointers are erased before the decoder opens an image', async () => {
  // The position of the first directory equals a tag, which is erased, so that the directory is lost.
  for (const [start, size] of [
    [0x8768, [32, 64]],
    [0x8769, [64, 32]],
  ] as const)
    for (const type of types) {
      const image = await open(withExif[type](tiffOf([orientationOf(6)], false, 0, start)))
      assert.deepEqual([image.width, image.height], size, `${type} ${start}`)
    }
  const avif = await quarters.clone().withMetadata({ orientation: 6 }).avif().toBuffer()
  const { width, height } = await open(avif)
  assert.deepEqual([width, height], [32, 64], 'rotated by a property of the image')
})

test('A changed or truncated image never gives the decoder a pointer', async () => {
  const block = tiffOf([orientationOf(6), [0x8769, 4, 1, 34]], true)
  const files = types.map((type) => [type, withExif[type](block, block)] as const)
  const avif = await quarters.clone().withMetadata({ orientation: 6 }).avif().toBuffer()
  const edits = fc.array(
    fc.record({
      place: fc.nat({ max: 400 }),
      removed: fc.nat({ max: 3 }),
      inserted: fc.uint8Array({ maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  let opened = 0
  const check = async (
    [type, original]: readonly [ImageFileType, Buffer],
    changes: readonly Edit[],
  ) => {
    const exif = await exifAfter(changes.reduce(applyEdit, original), type).catch(() => undefined)
    if (!exif) return
    opened++
    assert.equal(hasPointer(exif), false, type)
    assert.notEqual(type, 'AVIF')
  }
  const kinds = fc.constantFrom<readonly [ImageFileType, Buffer]>(...files, ['AVIF', avif])
  await fc.assert(fc.asyncProperty(kinds, edits, check), { numRuns: 1000 })
  assert.ok(opened > 100, `${opened} of 1000 have EXIF`)
})

type Edit = { readonly place: number; readonly removed: number; readonly inserted: Uint8Array }

function applyEdit(bytes: Buffer, { place, removed, inserted }: Edit): Buffer {
  const at = place % bytes.length
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)])
}
