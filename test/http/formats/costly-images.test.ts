import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { extraImageTypes } from '../../../src/lib/image-types/image-types.ts'
import { startFacegate, type TestFacegate } from '../../support/facegate/test-facegate.ts'

let facegate: TestFacegate
before(async () => {
  facegate = await startFacegate({ IMAGE_TYPES_EXTRA: extraImageTypes.join(',') })
})
after(() => facegate[Symbol.asyncDispose]())

/** 40 megapixels, the default of IMAGE_PIXELS_MAX, and 3840 × 2160 px. */
const largeSquare = [6324, 6324] as const
const fourK = [3840, 2160] as const

const flatImage = ([width, height]: readonly [number, number]) =>
  sharp({ create: { width, height, channels: 3, background: '#345' } })

async function errorOf(bytes: Buffer, type: string): Promise<readonly string[]> {
  const { body } = await facegate.run('svc.detect', { bytes, contentType: `image/${type}` })
  return body.ok ? ['OK'] : [body.errors[0].code, body.errors[0].message]
}

function chunk(id: string, data: Uint8Array): Buffer {
  const head = Buffer.alloc(8)
  head.write(id, 'latin1')
  head.writeUInt32LE(data.length, 4)
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
}

const uint24 = (value: number) => [value & 255, (value >> 8) & 255, value >> 16]

/** Creates an animation whose frames have one content. */
function animation([width, height]: readonly [number, number], count: number, frame: Uint8Array) {
  const header = [2, 0, 0, 0, ...uint24(width - 1), ...uint24(height - 1)]
  const body = Buffer.concat([
    Buffer.from('WEBP'),
    chunk('VP8X', Buffer.from(header)),
    chunk('ANIM', Buffer.alloc(6)),
    ...Array<Buffer>(count).fill(chunk('ANMF', frame)),
  ])
  return chunk('RIFF', body)
}

/** The header of a frame of 16 × 16 px at the corner, and its pixels. */
async function smallFrame(): Promise<Buffer> {
  const still = await flatImage([16, 16]).webp().toBuffer()
  const header = [0, 0, 0, 0, 0, 0, ...uint24(15), ...uint24(15), 10, 0, 0, 0]
  return Buffer.concat([Buffer.from(header), still.subarray(12)])
}

test('The frames of a WebP are counted before the decoder reads it', async () => {
  const frame = await smallFrame()
  const small = [64, 64] as const
  assert.deepEqual(await errorOf(animation(small, 1000, frame), 'webp'), ['OK'])
  const tooMany = ['IMAGE_TOO_LARGE', 'params.images[0].bytes: over 1000 frames or pages']
  for (const count of [1001, 50_000])
    assert.deepEqual(await errorOf(animation(small, count, frame), 'webp'), tooMany)
  // The decoder rejects these frames as damaged.
  assert.deepEqual(await errorOf(animation(small, 1001, Buffer.alloc(0)), 'webp'), tooMany)
})

test('A type that takes long to decode has a lower limit of pixels', async () => {
  const wide = flatImage(largeSquare).toColourspace('rgb16')
  const limited = [
    ['png', 16_000_000, await wide.clone().png().toBuffer()],
    ['png', 16_000_000, await flatImage(largeSquare).png({ progressive: true }).toBuffer()],
    ['webp', 16_000_000, animation(largeSquare, 1000, await smallFrame())],
    ['avif', 8_294_400, await flatImage(largeSquare).avif({ effort: 0 }).toBuffer()],
  ] as const
  for (const [type, pixelsMax, bytes] of limited) {
    const [code, message] = await errorOf(bytes, type)
    assert.equal(code, 'IMAGE_TOO_LARGE', type)
    assert.match(message ?? '', new RegExp(`6324×6324 px exceeds .* ${pixelsMax} pixels`, 'u'))
  }
  assert.deepEqual(await errorOf(await flatImage(largeSquare).png().toBuffer(), 'png'), ['OK'])
  const avif = await flatImage(fourK).avif({ effort: 0 }).toBuffer()
  assert.deepEqual(await errorOf(avif, 'avif'), ['OK'])
})

test('Changed copies of an image that kills workers are refused for their key', async () => {
  // This image takes more time than a worker has.
  await using slow = await startFacegate({ IMAGE_TYPES_EXTRA: 'avif', VISION_TIMEOUT_MS: '100' })
  const bytes = await flatImage(fourK).avif({ effort: 0 }).toBuffer()
  const send = async (nth: number) => {
    // Bytes after the image are ignored.
    const copy = Buffer.concat([bytes, Buffer.from([nth])])
    const image = { bytes: copy, contentType: 'image/avif' }
    const { status, headers, body } = await slow.run('svc.detect', image)
    return { status, detail: body.detail, waitS: Number(headers.get('retry-after')) }
  }
  for (let nth = 0; nth < 4; nth++)
    assert.equal((await send(nth)).detail, 'processing failed, retry')
  const { status, detail, waitS } = await send(4)
  assert.equal(status, 503)
  assert.match(
    detail,
    /^images of this type and size from this API key crashed the decoder 4 times/u,
  )
  assert.ok(waitS > 1 && waitS <= 30, String(waitS))
})
