import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { extraImageTypes } from '../../../src/lib/image-types/image-types.ts'
import {
  samplePhotograph,
  startFacegate,
  type TestFacegate,
} from '../../support/facegate/test-facegate.ts'

const width = 560
const height = 316

let facegate: TestFacegate
/** One face. */
let portrait: Buffer
before(async () => {
  const window = { left: 1360, top: 310, width, height }
  const photograph = await samplePhotograph(3)
  portrait = await sharp(photograph.bytes).extract(window).png().toBuffer()
  facegate = await startFacegate({
    VISION_WORKERS: '1',
    IMAGE_TYPES_EXTRA: 'webp,gif,avif',
    IMAGE_PIXELS_MAX: String(width * height),
    BINARY_BODIES: 'on',
    COMPREFACE_API: 'on',
  })
})
after(() => facegate[Symbol.asyncDispose]())

const enabled = extraImageTypes.filter((type) => type !== 'tiff')

const detect = async (bytes: Buffer, contentType: string) =>
  (await facegate.run('svc.detect', { bytes, contentType })).body

async function errorOf(bytes: Buffer, contentType: string) {
  const { errors } = await detect(bytes, contentType)
  const [{ code, path, message, hint } = {} as Record<string, string>] = errors
  return { code, path, text: `${message} ${hint}` }
}

test('A face is found in each enabled type, in JSON, as the body and in the CompreFace routes', async () => {
  for (const type of enabled) {
    const bytes = await sharp(portrait).toFormat(type).toBuffer()
    const contentType = `image/${type}`
    const { data, errors } = await detect(bytes, contentType)
    assert.equal(data?.results[0].value.faceCount, 1, `${type} ${JSON.stringify(errors)}`)
    const body = new Uint8Array(bytes)
    const raw = await fetch(`${facegate.url}/v1/face/execute?action=svc.detect`, {
      method: 'POST',
      headers: { 'x-api-key': facegate.key, 'content-type': contentType },
      body,
    })
    const answer = (await raw.json()) as { data: { results: { value: { faceCount: number } }[] } }
    assert.equal(answer.data.results[0]?.value.faceCount, 1, type)
    const form = new FormData()
    form.set('file', new Blob([body]), 'photo')
    const compreface = await fetch(`${facegate.url}/api/v1/detection/detect`, {
      method: 'POST',
      headers: { 'x-api-key': facegate.key },
      body: form,
    })
    const { result } = (await compreface.json()) as { result?: unknown[] }
    assert.equal(result?.length, 1, type)
  }
})

test('Each enabled type has the limit of pixels, must be complete and must match contentType', async () => {
  for (const type of enabled) {
    const contentType = `image/${type}`
    const larger = sharp(portrait).extend({ right: 1, background: '#000000' }).toFormat(type)
    const tooLarge = await errorOf(await larger.toBuffer(), contentType)
    assert.deepEqual([tooLarge.code, tooLarge.path], ['IMAGE_TOO_LARGE', 'params.images[0].bytes'])
    const bytes = await sharp(portrait).toFormat(type).toBuffer()
    const half = await errorOf(bytes.subarray(0, bytes.length / 2), contentType)
    assert.equal(half.code, 'IMAGE_DECODE_FAILED', type)
    for (const declared of ['jpeg', type === 'gif' ? 'webp' : 'gif']) {
      const wrong = await errorOf(bytes, `image/${declared}`)
      assert.deepEqual(
        [wrong.code, wrong.path],
        ['UNSUPPORTED_IMAGE_TYPE', 'params.images[0].contentType'],
      )
    }
  }
})

test('A type that is not enabled is refused by its contentType and by its bytes', async () => {
  const tiff = await sharp(portrait).tiff().toBuffer()
  const declared = await errorOf(tiff, 'image/tiff')
  assert.deepEqual(
    [declared.code, declared.path],
    ['INVALID_REQUEST', 'params.images[0].contentType'],
  )
  assert.match(
    declared.text,
    /must be one of "image\/jpeg", .*"image\/avif"; this server does not accept image\/tiff/u,
  )
  assert.match(declared.text, /IMAGE_TYPES_EXTRA/u)
  const disguised = await errorOf(tiff, 'image/jpeg')
  assert.equal(disguised.code, 'UNSUPPORTED_IMAGE_TYPE')
  assert.match(disguised.text, /TIFF is not supported; send JPEG, PNG, WebP, GIF or AVIF/u)
  const unknown = await errorOf(tiff, 'image/bmp')
  assert.equal(unknown.code, 'INVALID_REQUEST')
  assert.doesNotMatch(unknown.text, /tiff/u)
})

test('The API description contains what this server accepts', async () => {
  const response = await fetch(`${facegate.url}/v1/openapi.json`)
  const text = await response.text()
  const { paths, components } = JSON.parse(text)
  const accepted = ['image/jpeg', 'image/jpg', 'image/png', 'image/webp', 'image/gif', 'image/avif']
  assert.deepEqual(components.schemas.ImageItem.properties.contentType.enum, accepted)
  const { content } = paths['/v1/face/execute'].post.requestBody
  assert.deepEqual(
    Object.keys(content).toSorted(),
    ['application/json', 'multipart/form-data', ...accepted].toSorted(),
  )
})
