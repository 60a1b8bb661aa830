import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ActionError } from '../../../lib/errors.ts'
import { validateImage } from './validate-image.ts'
import { decodeBase64 } from './base64.ts'
import { readJpegHeader, readPngHeader } from './image-header.ts'
import { sniffFileType } from './sniff-file-type.ts'
import type { EncodedImage } from '../../image-analysis.ts'

const limits = { bytesMax: 1000, pixelsMax: 40_000_000, sideMinPx: 32 }

/** Signature and IHDR: all that is read before decoding. */
function pngHeader(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(33)
  bytes.write('\x89PNG\r\n\x1a\n', 'latin1')
  bytes.writeUInt32BE(13, 8)
  bytes.write('IHDR', 12)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

/** A frame header and as many scan headers as wanted, each with a little entropy-coded data. */
function jpegHeader(width: number, height: number, scans = 1): Buffer {
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 0, 0, 0, 1, 1, 0x11, 0])
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
    return 'admitted'
  } catch (error) {
    assert.ok(error instanceof ActionError)
    assert.match(error.message, /^params\.images\[2\]\.(?:bytes|contentType): /u)
    return error.code
  }
}

test('base64 is what RFC 4648 section 4 writes, and nothing else', () => {
  assert.deepEqual(decodeBase64('+/8='), Buffer.from([0xfb, 0xff]))
  assert.deepEqual(decodeBase64('AA=='), Buffer.from([0]))
  assert.equal(decodeBase64('')?.length, 0)
  const refused = ['-_8=', 'AA', 'AA=', 'AAA', 'AB==', 'AAB=', 'AA==\n', ' AA==', 'AA\n==']
  refused.push('data:image/png;base64,AA==', 'A===', '====', 'AA==AA==', 'AÄ==', 'AA=A', '*AA=')
  for (const text of refused) assert.equal(decodeBase64(text), undefined, text)
  assert.equal(errorCodeOf('not base64!', 'image/png'), 'INVALID_REQUEST')
})

test('the limit of bytes holds to the byte, before anything is decoded', () => {
  const atLimit = Buffer.concat([pngHeader(32, 32), Buffer.alloc(1000 - 33)])
  assert.equal(errorCodeOf(atLimit, 'image/png'), 'admitted')
  assert.equal(
    errorCodeOf(Buffer.concat([atLimit, Buffer.alloc(1)]), 'image/png'),
    'IMAGE_TOO_LARGE',
  )
  assert.equal(errorCodeOf('!'.repeat(4000), 'image/png'), 'IMAGE_TOO_LARGE')
})

test('other kinds of files are named, whatever they are declared as', () => {
  const named: Record<string, string | Buffer> = {
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
  for (const [name, text] of Object.entries(named)) {
    const bytes = Buffer.from(text as string, 'latin1')
    assert.equal(sniffFileType(bytes), name)
    assert.equal(errorCodeOf(bytes, 'image/jpeg'), 'UNSUPPORTED_IMAGE_TYPE', name)
  }
})

test('bytes must be of the declared type; image/jpg is image/jpeg', () => {
  assert.equal(errorCodeOf(pngHeader(64, 64), 'image/jpeg'), 'UNSUPPORTED_IMAGE_TYPE')
  assert.equal(errorCodeOf(jpegHeader(64, 64), 'image/png'), 'UNSUPPORTED_IMAGE_TYPE')
  assert.equal(errorCodeOf(jpegHeader(64, 64), 'image/jpg'), 'admitted')
  assert.equal(errorCodeOf(jpegHeader(64, 64), 'image/jpeg'), 'admitted')
})

test('empty and unrecognisable bytes are no image', () => {
  assert.equal(errorCodeOf('', 'image/jpeg'), 'IMAGE_DECODE_FAILED')
  assert.equal(errorCodeOf(Buffer.alloc(64), 'image/jpeg'), 'IMAGE_DECODE_FAILED')
  // A transfer in text mode changes the line ends in the signature of a PNG.
  const mangled = Buffer.concat([Buffer.from('\x89PNG\n\x1a\n', 'latin1'), Buffer.alloc(32)])
  assert.equal(errorCodeOf(mangled, 'image/png'), 'IMAGE_DECODE_FAILED')
})

test('size is judged by the header alone', () => {
  assert.equal(errorCodeOf(pngHeader(64_250, 64_250), 'image/png'), 'IMAGE_TOO_LARGE')
  assert.equal(errorCodeOf(jpegHeader(65_535, 65_535), 'image/jpeg'), 'IMAGE_TOO_LARGE')
  assert.equal(errorCodeOf(pngHeader(8000, 5000), 'image/png'), 'admitted')
  assert.equal(errorCodeOf(pngHeader(8001, 5000), 'image/png'), 'IMAGE_TOO_LARGE')
  assert.equal(errorCodeOf(pngHeader(31, 500), 'image/png'), 'IMAGE_TOO_SMALL')
  assert.equal(errorCodeOf(pngHeader(32, 500), 'image/png'), 'admitted')
  assert.equal(errorCodeOf(jpegHeader(500, 31), 'image/jpeg'), 'IMAGE_TOO_SMALL')
  assert.equal(errorCodeOf(pngHeader(0, 500), 'image/png'), 'IMAGE_DECODE_FAILED')
})

test('a JPEG may have a hundred scans and no more', () => {
  assert.equal(readJpegHeader(jpegHeader(64, 48, 7))?.scans, 7)
  const roomy = { ...limits, bytesMax: 10_000 }
  const picture = (scans: number): EncodedImage => ({
    bytes: jpegHeader(64, 64, scans).toString('base64'),
    contentType: 'image/jpeg',
  })
  assert.ok(validateImage(picture(100), roomy, 'x'))
  assert.throws(() => validateImage(picture(101), roomy, 'x'), { code: 'IMAGE_TOO_LARGE' })
})

test('the size is that of the picture, not of a thumbnail or of what follows its end', () => {
  const thumbnail = jpegHeader(160, 120)
  const app1 = Buffer.concat([Buffer.from([0xff, 0xe1, 0, thumbnail.length + 2]), thumbnail])
  const whole = jpegHeader(640, 480)
  const bytes = Buffer.concat([whole.subarray(0, 2), app1, whole.subarray(2), jpegHeader(9, 9)])
  assert.deepEqual(readJpegHeader(bytes), { width: 640, height: 480, scans: 1 })
})

test('broken headers are no headers', () => {
  const two = Buffer.concat([jpegHeader(64, 64).subarray(0, 15), jpegHeader(64, 64).subarray(2)])
  assert.equal(readJpegHeader(two), undefined, 'two frames')
  assert.equal(readJpegHeader(Buffer.from([0xff, 0xd8, 0xff])), undefined)
  assert.equal(readJpegHeader(jpegHeader(64, 64).subarray(0, 12)), undefined, 'cut off')
  assert.equal(readJpegHeader(jpegHeader(64, 0)), undefined, 'height to be told later')
  assert.equal(readPngHeader(pngHeader(64, 64).subarray(0, 32)), undefined)
  const noIhdr = pngHeader(64, 64)
  noIhdr.write('IDAT', 12)
  assert.equal(readPngHeader(noIhdr), undefined)
})
