import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ActionError } from '../../../lib/errors.ts'
import { fourChannelPixelsMax, scanSamplesMax, slowTypePixelsMax } from './pixel-limits.ts'
import { validateImage, decodeBase64, readJpegHeader, readPngHeader } from './validate-image.ts'
import { sniffFileType } from '../../../lib/image-types/image-types.ts'
import type { EncodedImage } from './encoded-image.ts'

const limits = { bytesMax: 1000, pixelsMax: 40_000_000, sideMinPx: 32 }

/** Returns the signature and the IHDR chunk, the only parts that are read before decoding. */
function pngHeader(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(33)
  bytes.write('\x89PNG\r\n\x1a\n', 'latin1')
  bytes.writeUInt32BE(13, 8)
  bytes.write('IHDR', 12)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

/** Returns a frame header and `scans` scan headers, each with a little entropy-coded data. */
function jpegHeader(width: number, height: number, scans = 1, factors = [0x11]): Buffer {
  const components = factors.flatMap((factor, index) => [index + 1, factor, 0])
  const lengths = [8 + components.length, 8, 0, 0, 0, 0, factors.length]
  const frame = Buffer.from([0xff, 0xc0, 0, ...lengths, ...components])
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  const scan = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x12, 0xff, 0x00, 0xff, 0xd0])
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    frame,
    ...Array.from({ length: scans }, () => scan),
    Buffer.from([0xff, 0xd9]),
  ])
}

function errorCodeOf(bytes: Buffer | string, contentType: EncodedImage['contentType']): string {
  const text = typeof bytes === 'string' ? bytes : bytes.toString('base64')
  try {
    validateImage({ bytes: text, contentType }, limits, 'params.images[2]')
    return 'valid'
  } catch (error) {
    assert.ok(error instanceof ActionError)
    assert.match(error.message, /^params\.images\[2\]\.(?:bytes|contentType): /u)
    return error.code
  }
}

test('Only base64 as defined in RFC 4648 section 4 is accepted', () => {
  assert.deepEqual(decodeBase64('+/8='), Buffer.from([0xfb, 0xff]))
  assert.deepEqual(decodeBase64('AA=='), Buffer.from([0]))
  assert.equal(decodeBase64('')?.length, 0)
  const invalid = ['-_8=', 'AA', 'AA=', 'AAA', 'AB==', 'AAB=', 'AA==\n', ' AA==', 'AA\n==']
  invalid.push('data:image/png;base64,AA==', 'A===', '====', 'AA==AA==', 'AÄ==', 'AA=A', '*AA=')
  for (const text of invalid) assert.equal(decodeBase64(text), undefined, text)
  assert.equal(errorCodeOf('not base64!', 'image/png'), 'INVALID_REQUEST')
})

test('The byte limit is exact and is checked before decoding', () => {
  const atLimit = Buffer.concat([pngHeader(32, 32), Buffer.alloc(1000 - 33)])
  assert.equal(errorCodeOf(atLimit, 'image/png'), 'valid')
  assert.equal(
    errorCodeOf(Buffer.concat([atLimit, Buffer.alloc(1)]), 'image/png'),
    'IMAGE_TOO_LARGE',
  )
  assert.equal(errorCodeOf('!'.repeat(4000), 'image/png'), 'IMAGE_TOO_LARGE')
})

test('Other file types are named in the error, whatever their declared type is', () => {
  const files: Record<string, string> = {
    GIF: 'GIF89a..........',
    WebP: 'RIFF....WEBPVP8 ',
    TIFF: 'II*\0........',
    AVIF: '\0\0\0\x20ftypavif',
    HEIC: '\0\0\0\x20ftypheic',
    BMP: 'BM....\0\0\0\0....',
    ICO: '\0\0\x01\0\x01\0',
    PDF: '%PDF-1.7',
    ZIP: 'PK\x03\x04....',
    SVG: '<?xml version="1.0"?>\n<!-- drawn -->\n<svg xmlns="http://www.w3.org/2000/svg">',
    HTML: '<!DOCTYPE html><html>',
  }
  for (const [name, text] of Object.entries(files)) {
    const bytes = Buffer.from(text, 'latin1')
    assert.equal(sniffFileType(bytes), name)
    assert.equal(errorCodeOf(bytes, 'image/jpeg'), 'UNSUPPORTED_IMAGE_TYPE', name)
  }
})

test('The bytes must be of the declared type; image/jpg means image/jpeg', () => {
  assert.equal(errorCodeOf(pngHeader(64, 64), 'image/jpeg'), 'UNSUPPORTED_IMAGE_TYPE')
  assert.equal(errorCodeOf(jpegHeader(64, 64), 'image/png'), 'UNSUPPORTED_IMAGE_TYPE')
  assert.equal(errorCodeOf(jpegHeader(64, 64), 'image/jpg'), 'valid')
  assert.equal(errorCodeOf(jpegHeader(64, 64), 'image/jpeg'), 'valid')
})

test('Empty and unrecognisable bytes are rejected', () => {
  assert.equal(errorCodeOf('', 'image/jpeg'), 'IMAGE_DECODE_FAILED')
  assert.equal(errorCodeOf(Buffer.alloc(64), 'image/jpeg'), 'IMAGE_DECODE_FAILED')
  // A transfer in text mode changes the line ends in a PNG signature.
  const mangled = Buffer.concat([Buffer.from('\x89PNG\n\x1a\n', 'latin1'), Buffer.alloc(32)])
  assert.equal(errorCodeOf(mangled, 'image/png'), 'IMAGE_DECODE_FAILED')
})

test('The image size is read from the header alone', () => {
  assert.equal(errorCodeOf(pngHeader(64_250, 64_250), 'image/png'), 'IMAGE_TOO_LARGE')
  assert.equal(errorCodeOf(jpegHeader(65_535, 65_535), 'image/jpeg'), 'IMAGE_TOO_LARGE')
  assert.equal(errorCodeOf(pngHeader(8000, 5000), 'image/png'), 'valid')
  assert.equal(errorCodeOf(pngHeader(8001, 5000), 'image/png'), 'IMAGE_TOO_LARGE')
  assert.equal(errorCodeOf(pngHeader(31, 500), 'image/png'), 'IMAGE_TOO_SMALL')
  assert.equal(errorCodeOf(pngHeader(32, 500), 'image/png'), 'valid')
  assert.equal(errorCodeOf(jpegHeader(500, 31), 'image/jpeg'), 'IMAGE_TOO_SMALL')
  assert.equal(errorCodeOf(pngHeader(0, 500), 'image/png'), 'IMAGE_DECODE_FAILED')
})

test('Types that take longer to decode than others have a lower limit of pixels', () => {
  const png = (height: number, [bits, colours, interlacing]: readonly number[], chunk = '') => {
    const bytes = Buffer.concat([pngHeader(4000, height), Buffer.from(chunk, 'latin1')])
    bytes.set([bits ?? 8, colours ?? 2, 0, 0, interlacing ?? 0], 24)
    return errorCodeOf(bytes, 'image/png')
  }
  const jpeg = (height: number, scans: number, factors: number[]) =>
    errorCodeOf(jpegHeader(4000, height, scans, factors), 'image/jpeg')
  const [full, half, quarter] = [
    [0x11, 0x11, 0x11],
    [0x21, 0x11, 0x11],
    [0x22, 0x11, 0x11],
  ] as const
  const inks = [0x11, 0x11, 0x11, 0x11]
  const [grey, rgb, palette, greyAlpha, rgba] = [0, 2, 3, 4, 6] as const
  const [transparent, data] = ['\0\0\0\x01tRNS\0CRC4', '\0\0\0\x01IDAT\0CRC4']
  const limited = [
    [slowTypePixelsMax, (height: number) => png(height, [16, rgb, 0])],
    [slowTypePixelsMax, (height: number) => png(height, [8, rgb, 1])],
    [slowTypePixelsMax, (height: number) => png(height, [16, rgba, 0])],
    // 4:4:4, 4:2:2 and 4:2:0 with the scans of most progressive photographs, then grey and CMYK.
    [scanSamplesMax / 30, (height: number) => jpeg(height, 10, [...full])],
    [limits.pixelsMax, (height: number) => jpeg(height, 10, [...half])],
    [limits.pixelsMax, (height: number) => jpeg(height, 10, [...quarter])],
    [scanSamplesMax / 32, (height: number) => jpeg(height, 16, [...quarter])],
    [scanSamplesMax / 51, (height: number) => jpeg(height, 17, [...full])],
    [scanSamplesMax / 32, (height: number) => jpeg(height, 16, [0x11])],
    [scanSamplesMax / 40, (height: number) => jpeg(height, 10, inks)],
    [fourChannelPixelsMax, (height: number) => jpeg(height, 4, inks)],
    [fourChannelPixelsMax, (height: number) => png(height, [8, rgba, 0])],
    [fourChannelPixelsMax, (height: number) => png(height, [8, palette, 0], transparent + data)],
    [fourChannelPixelsMax, (height: number) => jpeg(height, 1, inks)],
    [limits.pixelsMax, (height: number) => jpeg(height, 1, [...full])],
    [limits.pixelsMax, (height: number) => jpeg(height, 3, [...full])],
    ...[grey, rgb, palette, greyAlpha].map(
      (colours) => [limits.pixelsMax, (height: number) => png(height, [8, colours, 0])] as const,
    ),
  ] as const
  for (const [pixelsMax, check] of limited) {
    const height = Math.floor(pixelsMax / 4000)
    assert.equal(check(height), 'valid')
    assert.equal(check(height + 1), 'IMAGE_TOO_LARGE')
  }
})

test('A JPEG with more than a hundred scans is rejected', () => {
  assert.equal(readJpegHeader(jpegHeader(64, 48, 7))?.scans, 7)
  const largerLimits = { ...limits, bytesMax: 10_000 }
  const image = (scans: number): EncodedImage => ({
    bytes: jpegHeader(64, 64, scans).toString('base64'),
    contentType: 'image/jpeg',
  })
  assert.ok(validateImage(image(100), largerLimits, 'x'))
  assert.throws(() => validateImage(image(101), largerLimits, 'x'), { code: 'IMAGE_TOO_LARGE' })
})

test('The size is read from the image, not from a thumbnail or trailing data', () => {
  const thumbnail = jpegHeader(160, 120)
  const app1 = Buffer.concat([Buffer.from([0xff, 0xe1, 0, thumbnail.length + 2]), thumbnail])
  const whole = jpegHeader(640, 480)
  const bytes = Buffer.concat([whole.subarray(0, 2), app1, whole.subarray(2), jpegHeader(9, 9)])
  assert.deepEqual(readJpegHeader(bytes), {
    width: 640,
    height: 480,
    scans: 1,
    channels: 1,
    samples: 2,
  })
})

test('Broken headers are rejected', () => {
  const two = Buffer.concat([jpegHeader(64, 64).subarray(0, 15), jpegHeader(64, 64).subarray(2)])
  assert.equal(readJpegHeader(two), undefined, 'two frames')
  assert.equal(readJpegHeader(Buffer.from([0xff, 0xd8, 0xff])), undefined)
  assert.equal(readJpegHeader(jpegHeader(64, 64).subarray(0, 12)), undefined, 'truncated')
  assert.equal(
    readJpegHeader(jpegHeader(64, 0)),
    undefined,
    'height 0, to be defined by a later marker',
  )
  assert.equal(readPngHeader(pngHeader(64, 64).subarray(0, 32)), undefined)
  const noIhdr = pngHeader(64, 64)
  noIhdr.write('IDAT', 12)
  assert.equal(readPngHeader(noIhdr), undefined)
})
