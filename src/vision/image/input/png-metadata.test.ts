import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, deflateSync } from 'node:zlib'
import { exceededMetadataLimit, metadataBytesMax, metadataChunksMax } from './png-metadata.ts'
import { validateImage } from './validate-image.ts'

const limits = { bytesMax: 16 * 1024 * 1024, pixelsMax: 40_000_000, sideMinPx: 32 }

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}

/** Returns a PNG of 64 × 64 px with these chunks before its pixels and after them. */
function pngWith(before: readonly Buffer[], after: readonly Buffer[] = []): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(64, 0)
  header.writeUInt32BE(64, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const pixels = chunk('IDAT', deflateSync(Buffer.alloc(64 * 65)))
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  const end = chunk('IEND', Buffer.alloc(0))
  return Buffer.concat([signature, chunk('IHDR', header), ...before, pixels, ...after, end])
}

/** Returns chunks whose content inflates to this number of bytes. */
const compressed: Readonly<Record<string, (size: number) => Buffer>> = {
  zTXt: (size) => chunk('zTXt', Buffer.concat([Buffer.from('k\0\0'), deflated(size)])),
  iCCP: (size) => chunk('iCCP', Buffer.concat([Buffer.from('k\0\0'), deflated(size)])),
  iTXt: (size) => chunk('iTXt', Buffer.concat([Buffer.from('k\0\u0001\0en\0k\0'), deflated(size)])),
}

const deflated = (size: number): Buffer => deflateSync(Buffer.alloc(size))

test('The inflated size of the texts and profiles is limited exactly', () => {
  for (const [type, chunkOf] of Object.entries(compressed)) {
    const atLimit = chunkOf(metadataBytesMax)
    assert.equal(exceededMetadataLimit(pngWith([atLimit])), undefined, type)
    assert.equal(exceededMetadataLimit(pngWith([chunkOf(metadataBytesMax + 1)])), 'bytes', type)
    const one = chunk('tEXt', Buffer.from('x'))
    assert.equal(exceededMetadataLimit(pngWith([atLimit, one])), 'bytes', 'all chunks together')
    assert.equal(exceededMetadataLimit(pngWith([atLimit], [one])), 'bytes', 'after the pixels')
  }
  const half = metadataBytesMax / 2
  const uncompressed = Buffer.concat([Buffer.from('k\0\0\0\0\0'), Buffer.alloc(half)])
  const text = (size: number) => chunk('tEXt', Buffer.alloc(size))
  const iTXt = chunk('iTXt', uncompressed)
  assert.equal(exceededMetadataLimit(pngWith([iTXt, text(half)])), undefined)
  assert.equal(exceededMetadataLimit(pngWith([iTXt, text(half + 1)])), 'bytes')
})

test('The number of chunks is limited exactly, whatever their type; pixel chunks do not count', () => {
  // The decoder reports a warning for each of the empty ones, which takes 7 µs.
  const types = ['tEXt', 'cICP', 'gAMA', 'tIME', 'prVt']
  const texts = Array.from({ length: metadataChunksMax }, (_, index) =>
    chunk(types[index % types.length] ?? '', Buffer.alloc(0)),
  )
  const pixels = Array.from({ length: 2000 }, () => chunk('IDAT', Buffer.alloc(0)))
  assert.equal(exceededMetadataLimit(pngWith(texts, pixels)), undefined)
  const [one = Buffer.alloc(0)] = texts
  assert.equal(exceededMetadataLimit(pngWith(texts, [...pixels, one])), 'chunks')
})

test('Damaged content counts with the most bytes that it can inflate to', () => {
  const sizeMax = Math.floor(metadataBytesMax / 1032)
  const damaged = (size: number) =>
    chunk('zTXt', Buffer.concat([Buffer.from('k\0\0'), Buffer.alloc(size, 0xff)]))
  assert.equal(exceededMetadataLimit(pngWith([damaged(sizeMax)])), undefined)
  assert.equal(exceededMetadataLimit(pngWith([damaged(sizeMax + 1)])), 'bytes')
  const truncated = deflated(metadataBytesMax).subarray(0, -1)
  const text = chunk('zTXt', Buffer.concat([Buffer.from('k\0\0'), truncated]))
  assert.equal(exceededMetadataLimit(pngWith([text, text])), 'bytes')
})

test('Damaged, truncated and unknown chunks are no error', () => {
  const damaged = [
    chunk('zTXt', Buffer.from('no NUL')),
    chunk('zTXt', Buffer.from('k\0\0not deflated')),
    chunk('iTXt', Buffer.from('k\0\u0001')),
    chunk('iTXt', Buffer.alloc(0)),
    chunk('prVt', Buffer.alloc(metadataBytesMax + 1)),
  ]
  assert.equal(exceededMetadataLimit(pngWith(damaged)), undefined)
  const bytes = pngWith([chunk('tEXt', Buffer.alloc(100))])
  for (const length of [0, 8, 40, 60, 100])
    assert.equal(exceededMetadataLimit(bytes.subarray(0, length)), undefined)
})

test('A PNG above the limits is rejected, and copies with another byte, too', () => {
  const send = (bytes: Buffer) =>
    validateImage({ bytes: bytes.toString('base64'), contentType: 'image/png' }, limits, 'image')
  const bomb = pngWith(
    Array.from({ length: 20 }, () => compressed['zTXt']?.(1_000_000) ?? Buffer.alloc(0)),
  )
  for (const index of [bomb.length - 1, 45]) {
    const copy = Buffer.from(bomb)
    copy[index] = (copy[index] ?? 0) ^ 1
    assert.throws(() => send(copy), {
      code: 'IMAGE_TOO_LARGE',
      message: /image\.bytes: .* exceeds 8388608 bytes when inflated; remove it/u,
    })
  }
  assert.ok(send(pngWith([])))
})
