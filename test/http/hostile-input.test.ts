import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { readCsv } from '../../src/evaluation/read-csv.ts'
import {
  samplePhotograph,
  type TestResponse,
  type TestImage,
} from '../support/facegate/test-facegate.ts'
import { spawnFacegate, type FacegateProcess } from '../support/facegate/spawn-facegate.ts'
import { evalDataFolder } from '../support/paths.ts'

const hostileFolder = path.join(evalDataFolder, 'hostile')
const mebibyte = 1024 * 1024

let facegate: FacegateProcess
before(async () => {
  facegate = await spawnFacegate()
})
after(() => facegate[Symbol.asyncDispose]())

const png = (bytes: Buffer): TestImage => ({ bytes, contentType: 'image/png' })
const jpeg = (bytes: Buffer): TestImage => ({ bytes, contentType: 'image/jpeg' })
const detect = (image: TestImage): Promise<TestResponse> => facegate.run('svc.detect', image)
const codeOf = ({ body }: TestResponse): string => body.errors?.[0]?.code ?? 'OK'

const flatImage = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#777' } })

/** Returns a PNG whose header declares any size; its pixels are a few bytes of zeros. */
function pngClaiming(width: number, height: number): Buffer {
  return pngWithText(width, height, [])
}

/** Returns such a PNG with compressed texts. */
function pngWithText(width: number, height: number, texts: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data])
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    const check = Buffer.alloc(4)
    check.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, check])
  }
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    ...texts.map((text) => chunk('zTXt', Buffer.concat([Buffer.from('key\0\0'), text]))),
    chunk('IDAT', deflateSync(Buffer.alloc(1000))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Returns a real JPEG whose frame header declares another size. */
async function jpegClaiming(width: number, height: number): Promise<Buffer> {
  const bytes = await flatImage(64, 64).jpeg().toBuffer()
  const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]))
  bytes.writeUInt16BE(height, frame + 5)
  bytes.writeUInt16BE(width, frame + 7)
  return bytes
}

test('Images whose header declares too many pixels are rejected before decoding', async () => {
  assert.equal(codeOf(await detect(png(pngClaiming(64_250, 64_250)))), 'IMAGE_TOO_LARGE')
  assert.equal(codeOf(await detect(jpeg(await jpegClaiming(65_535, 65_535)))), 'IMAGE_TOO_LARGE')
})

test('A PNG with much compressed text is rejected before decoding, and so are its copies', async () => {
  const text = deflateSync(Buffer.alloc(8 * mebibyte))
  for (let copy = 0; copy < 3; copy++) {
    const copied = Buffer.concat([text, Buffer.from([copy])])
    const image = png(
      pngWithText(
        64,
        64,
        Array.from({ length: 100 }, () => copied),
      ),
    )
    assert.equal(codeOf(await detect(image)), 'IMAGE_TOO_LARGE')
  }
})

test('The pixel limits are exact', async () => {
  const code = async (width: number, height: number): Promise<string> =>
    codeOf(await detect(png(await flatImage(width, height).png().toBuffer())))
  assert.equal(await code(32, 32), 'OK')
  assert.equal(await code(31, 500), 'IMAGE_TOO_SMALL')
  assert.equal(await code(500, 31), 'IMAGE_TOO_SMALL')
  assert.equal(await code(1, 1), 'IMAGE_TOO_SMALL')
  assert.equal(await code(8000, 5000), 'OK', '40 megapixels')
  assert.equal(await code(8000, 5001), 'IMAGE_TOO_LARGE')
  assert.equal(await code(65_535, 32), 'OK', 'the longest side')
  assert.equal(await code(65_536, 32), 'IMAGE_TOO_LARGE')
  assert.equal(await code(32, 65_536), 'IMAGE_TOO_LARGE')
})

test('The byte limit is exact', async () => {
  const photograph = (await samplePhotograph(1)).bytes
  const padded = (length: number) => Buffer.concat([photograph], length)
  assert.equal(codeOf(await detect(jpeg(padded(8 * mebibyte)))), 'OK', 'trailing bytes are ignored')
  assert.equal(codeOf(await detect(jpeg(padded(8 * mebibyte + 1)))), 'IMAGE_TOO_LARGE')
})

test('A truncated photograph is rejected, wherever it is cut', async () => {
  const { bytes } = await samplePhotograph(6)
  for (let percent = 0; percent < 100; percent += 4) {
    const cut = bytes.subarray(0, Math.floor((bytes.length * percent) / 100))
    assert.equal(codeOf(await detect(jpeg(cut))), 'IMAGE_DECODE_FAILED', `cut at ${percent} %`)
  }
})

test('Bytes of another image type than declared are rejected with UNSUPPORTED_IMAGE_TYPE', async () => {
  const image = flatImage(100, 100)
  assert.equal(codeOf(await detect(jpeg(await image.png().toBuffer()))), 'UNSUPPORTED_IMAGE_TYPE')
  assert.equal(codeOf(await detect(png(await image.jpeg().toBuffer()))), 'UNSUPPORTED_IMAGE_TYPE')
  for (const type of ['gif', 'webp', 'tiff', 'avif'] as const) {
    const response = await detect(png(await image.toFormat(type).toBuffer()))
    assert.equal(codeOf(response), 'UNSUPPORTED_IMAGE_TYPE', type)
  }
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"/>')
  assert.equal(codeOf(await detect(png(svg))), 'UNSUPPORTED_IMAGE_TYPE')
  assert.equal(codeOf(await detect(png(Buffer.from('GIF89a')))), 'UNSUPPORTED_IMAGE_TYPE')
  assert.equal(codeOf(await detect(png(Buffer.from('not an image')))), 'IMAGE_DECODE_FAILED')
  assert.equal(codeOf(await detect(png(Buffer.alloc(0)))), 'IMAGE_DECODE_FAILED')
  const jpg = { bytes: await image.jpeg().toBuffer(), contentType: 'image/jpg' }
  assert.equal(codeOf(await detect(jpg)), 'OK')
})

test('A text file of many comments is rejected without a kill of a worker', async () => {
  // A pattern that can match n comments in 2^n ways would need the age of the universe.
  const comments = Buffer.from('<!---->'.repeat(140))
  assert.equal(codeOf(await detect(png(comments))), 'IMAGE_DECODE_FAILED')
  const svg = Buffer.from('<!-- a --> <!-- b --><!DOCTYPE svg><svg>')
  assert.equal(codeOf(await detect(png(svg))), 'UNSUPPORTED_IMAGE_TYPE')
})

test('A JPEG followed by another file is analyzed as the JPEG', async () => {
  const { bytes } = await samplePhotograph(3)
  const zip = Buffer.from('PK\u0003\u0004<script>alert(1)</script><?php ?>')
  const response = await detect(jpeg(Buffer.concat([bytes, zip])))
  assert.equal(response.body.data.results[0].value.faceCount, 3)
})

test('Only strict base64 is accepted', async () => {
  const photograph = (await samplePhotograph(1)).bytes
  const valid = photograph.toString('base64')
  const send = async (bytes: string): Promise<string> => {
    const image = { kind: 'image', contentType: 'image/jpeg', bytes }
    return codeOf(await facegate.post({ action: 'svc.detect', params: { images: [image] } }))
  }
  assert.equal(await send(valid), 'OK')
  const unpadded = photograph.subarray(0, photograph.length - (photograph.length % 3) - 1)
  const padded = unpadded.toString('base64')
  assert.match(padded, /[^=]=$/u)
  const last = padded.at(-2) ?? ''
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const trailingBits = `${padded.slice(0, -2)}${alphabet[alphabet.indexOf(last) + 1] ?? ''}=`
  const invalid: Readonly<Record<string, string>> = {
    'a line break': `${valid.slice(0, 76)}\n${valid.slice(76)}`,
    'a space': `${valid.slice(0, 4)} ${valid.slice(4)}`,
    'a leading space': ` ${valid}`,
    'a data address': `data:image/jpeg;base64,${valid}`,
    'URL-safe letters': `${valid.slice(0, 40)}-_${valid.slice(42)}`,
    'no padding': padded.slice(0, -1),
    'too much padding': `${padded}=`,
    'padding inside': `${valid.slice(0, 4)}==${valid.slice(6)}`,
    'padding alone': '====',
    'bits behind the end': trailingBits,
    'a length of 4n + 1': `${valid}A`,
    junk: '%%%%',
    'letters beyond ASCII': `é${valid.slice(1)}`,
  }
  for (const [name, bytes] of Object.entries(invalid))
    assert.equal(await send(bytes), 'INVALID_REQUEST', name)
})

test('A body is accepted up to the limit and rejected one byte above it, with and without chunked encoding', async () => {
  const padTo = (length: number): string => `${'{"params":{},"action":"'.padEnd(length - 2, 'x')}"}`
  const chunked = (text: string): ReadableStream<Uint8Array> => new Blob([text]).stream()
  const limit = 24 * mebibyte
  assert.equal((await facegate.post(padTo(limit))).status, 200)
  assert.equal((await facegate.postStream(chunked(padTo(limit)))).status, 200)
  assert.equal((await facegate.post(padTo(limit + 1))).status, 413)
  assert.equal((await facegate.postStream(chunked(padTo(limit + 1)))).status, 413)
})

test('A structure that would block the event loop is rejected before it is parsed', async () => {
  const bodies: Readonly<Record<string, string>> = {
    'depth of a million': '['.repeat(1_000_000),
    'millions of objects': `[${'{},'.repeat(3_500_000)}{}]`,
    'a million keys': `{${Array.from({ length: 1_000_000 }, (_, key) => `"${key}":1`).join()}}`,
  }
  for (const [name, body] of Object.entries(bodies))
    assert.equal((await facegate.post(body)).status, 400, name)
})

/** Returns whether the error code is right for the file; the labels mark broken files. */
function isExpectedOutcome(file: string, expected: string, code: string): boolean {
  if (expected === 'invalid') return code !== 'OK'
  if (/\.(?:bmp|gif|ico|tiff|webp)$/u.test(file)) return code === 'UNSUPPORTED_IMAGE_TYPE'
  return code === 'OK' || code === 'IMAGE_TOO_SMALL'
}

test(
  'Every file of the hostile collection gets the expected code, and memory does not grow',
  { skip: existsSync(hostileFolder) ? false : 'the collection is not next to the project folder' },
  async () => {
    const labels = await readCsv(path.join(hostileFolder, 'labels.csv'), ['file', 'expected'])
    const rssBefore = await facegate.rssBytes()
    const wrong: string[] = []
    for (const { cells } of labels) {
      const { file = '', expected = '' } = cells
      const bytes = await readFile(path.join(hostileFolder, file))
      const response = await detect(file.endsWith('.png') ? png(bytes) : jpeg(bytes))
      const code = codeOf(response)
      if (response.status !== 200 || !isExpectedOutcome(file, expected, code))
        wrong.push(`${file}: expected ${expected}, got ${response.status} ${code}`)
    }
    assert.deepEqual(wrong, [])
    const grownBytes = (await facegate.rssBytes()) - rssBefore
    assert.ok(grownBytes < 50 * mebibyte, `the server grew by ${grownBytes} bytes`)
  },
)
