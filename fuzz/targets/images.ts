import assert from 'node:assert/strict'
import { deflateSync } from 'node:zlib'
import { ActionError } from '../../src/lib/errors.ts'
import {
  base64BytesMax,
  decodeBase64,
  readJpegHeader,
  readPngHeader,
  validateImage,
} from '../../src/vision/image/input/validate-image.ts'
import { sniffFileType } from '../../src/lib/image-types/image-types.ts'
import { bufferOf, seedsOf, type FuzzTarget } from './target.ts'

const limits = { bytesMax: 1_000_000, pixelsMax: 40_000_000, sideMinPx: 32 }

/** The checks of an image before it is decoded. */
export const imageHeader: FuzzTarget = {
  name: 'image-header',
  seeds: () => [
    jpeg(640, 480),
    png(640, 480),
    ...seedsOf([
      'GIF89a',
      '<?xml version="1.0"?><!-- a --><!DOCTYPE svg><svg xmlns="x">',
      '<!-- a --> <!-- b --><svg>',
      '<!doctype html><html>',
      'RIFF\0\0\0\0WEBP',
    ]),
  ],
  tokens: [
    '\xff\xd8\xff',
    '\xff\xc0',
    '\xff\xc2',
    '\xff\xc4',
    '\xff\xda',
    '\xff\xd9',
    '\xff\xe1',
    '\x89PNG\r\n\x1a\n',
    '\0\0\0\rIHDR',
    'IDAT',
    '<!--',
    '-->',
    '<!---->',
    '<!DOCTYPE>',
    '<?xml ?>',
    '<svg>',
    '\xef\xbb\xbf',
    'ftypavif',
    'II*\0',
  ],
  run: (input) => {
    const bytes = bufferOf(input)
    const type = sniffFileType(bytes)
    const header = type === 'PNG' ? readPngHeader(bytes) : readJpegHeader(bytes)
    if (header) assert.ok(header.width > 0 && header.height > 0 && header.scans > 0)
    const contentType = type === 'PNG' ? 'image/png' : 'image/jpeg'
    const image = { bytes: bytes.toString('base64'), contentType } as const
    assert.ok(validateImage(image, limits, 'image').equals(bytes))
    assert.ok(header && header.width * header.height <= limits.pixelsMax)
    return `${type} with ${Math.min(header.scans, 9)} scans`
  },
  isExpected: (error) =>
    error instanceof ActionError && /^(?:IMAGE_|UNSUPPORTED_IMAGE_TYPE)/u.test(error.code),
}

/** RFC 4648 section 4 with padding; the last character before it has no unused bits set. */
const strictBase64 =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?$/u

export const base64: FuzzTarget = {
  name: 'base64',
  seeds: () => seedsOf(['', 'AA==', 'AAA=', 'AAAA', '+/8=', 'AB==', 'AA==\n', 'data:;base64,AA==']),
  tokens: ['=', '==', '====', '-', '_', ' ', '\n', 'data:image/png;base64,', '\xc3\xa9', '+', '/'],
  run: (input) => {
    const text = bufferOf(input).toString('utf8')
    const bytes = decodeBase64(text)
    assert.equal(bytes !== undefined, strictBase64.test(text))
    if (bytes) assert.equal(bytes.length, base64BytesMax(text))
    return bytes ? `valid, ${bytes.length % 3}` : 'invalid'
  },
  isExpected: () => false,
}

function jpeg(width: number, height: number): Buffer {
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 0, 0, 0, 1, 1, 0x11, 0])
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  const scan = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x12, 0xff, 0, 0xff, 0xd0])
  const exif = Buffer.from([0xff, 0xe1, 0, 8, ...Buffer.from('Exif\0\0')])
  return Buffer.concat([Buffer.of(0xff, 0xd8), exif, frame, scan, Buffer.of(0xff, 0xd9)])
}

function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(33)
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return Buffer.concat([bytes, deflateSync(Buffer.alloc(50))])
}
