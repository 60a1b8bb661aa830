import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { validateImage } from '../../src/vision/image/input/validate-image.ts'
import { createFakeVisionClient, unlimitedVisionClient } from '../support/gallery/fake-vision.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

/**
 * Calls that new users get wrong. For each, the response must contain what a reader needs to correct the
 * call without the documentation: the location, the rule and the remedy.
 */

const imageLimits = { bytesMax: 8 << 20, pixelsMax: 40_000_000, sideMinPx: 32 }

/** Fake images are lists of people; anything else is validated as an image of a caller. */
const fakeVision = createFakeVisionClient()
const vision = unlimitedVisionClient(async (image, request, context) => {
  const isFake = Buffer.from(image.bytes, 'base64').subarray(0, 1).toString() === '['
  if (!isFake) validateImage(image, imageLimits, context.path)
  return fakeVision.analyzeImage(image, request, context)
})

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ vision })
})
after(() => gallery[Symbol.asyncDispose]())

type Refusal = {
  readonly status: number
  readonly code?: string
  readonly path?: string
  /** Message and hint, or the detail. */
  readonly text: string
}

const send = async (
  path: string,
  init: RequestInit & { readonly headers?: Readonly<Record<string, string>> },
): Promise<Refusal> => {
  const headers = { 'x-api-key': gallery.key, 'content-type': 'application/json', ...init.headers }
  const response = await fetch(gallery.url + path, { ...init, headers })
  const body = (await response.json()) as {
    detail?: string
    errors?: { code: string; message: string; path?: string; hint?: string }[]
  }
  const [error] = body.errors ?? []
  if (!error) return { status: response.status, text: body.detail ?? 'the call succeeded' }
  const { code, message, path: location, hint } = error
  const text = hint === undefined ? message : `${message} ${hint}`
  return { status: response.status, code, text, ...(location !== undefined && { path: location }) }
}

const raw =
  (body: string, headers: Readonly<Record<string, string>> = {}) =>
  () =>
    send('/v1/face/execute', { method: 'POST', body, headers })
const envelope = (body: object) => raw(JSON.stringify(body))
const call = (action: string, params: object) => envelope({ action, params })
const rest = (method: string, path: string, body?: object) => () =>
  send(path, { method, ...(body && { body: JSON.stringify(body) }) })

const anna = imageParams('anna')
const [annaImage] = (anna as { images: object[] }).images
const withImage = (fields: object) => ({ images: [{ ...annaImage, ...fields }] })
const encoded = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64')
const id = '0b9f1f9c-2e0e-4a7e-9d57-3c4b8a1d2e3f'
const gif = encoded('GIF89a----------------')
const pngHeader = encoded(
  Buffer.concat([
    Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    Buffer.from('0000000a0000000a0802000000', 'hex'),
    Buffer.alloc(8),
  ]),
)

type WrongCall = readonly [
  title: string,
  run: () => Promise<Refusal>,
  expected: Omit<Refusal, 'text' | 'status'> & { readonly status?: number },
  ...states: readonly string[],
]

const invalid = (path: string) => ({ code: 'INVALID_REQUEST', path })

const bodies: readonly WrongCall[] = [
  ['an empty body', raw(''), { status: 400 }, 'empty', 'send a JSON object'],
  ['a list as the body', raw('[]'), { status: 400 }, 'must be a JSON object'],
  [
    'a trailing comma',
    raw('{"action": "svc.detect",\n}'),
    { status: 400 },
    'line 2, column 1',
    'a name in double quotes',
  ],
  ['single quotes', raw("{'action': 1}"), { status: 400 }, 'line 1, column 2', 'double quotes'],
  [
    'a missing quote',
    raw('{"action: "svc.detect"}'),
    { status: 400 },
    'line 1, column 12',
    'a colon',
  ],
  [
    'a text that is not closed',
    raw('{"action": "svc'),
    { status: 400 },
    'line 1, column 12',
    'a closing quote',
  ],
  [
    'a line break in a text',
    raw('{"action": "svc\n"}'),
    { status: 400 },
    'line 1, column 16',
    'an escape',
  ],
  [
    'a Windows path',
    raw(String.raw`{"a": "C:\dir"}`),
    { status: 400 },
    'line 1, column 9',
    String.raw`a backslash as \\`,
  ],
  ['two documents', raw('{} {}'), { status: 400 }, 'line 1, column 4', 'the end of the body'],
  [
    'a repeated key',
    raw('{"action": 1, "action": 2}'),
    { status: 400 },
    'action',
    'duplicated',
    'once',
  ],
  [
    'a body in another encoding',
    raw('{}', { 'content-encoding': 'gzip' }),
    { status: 415 },
    'uncompressed',
  ],
  [
    'another content type',
    raw('{}', { 'content-type': 'text/plain' }),
    { status: 415 },
    'must be application/json',
    'text/plain',
  ],
  [
    'another version',
    raw('{}', { 'x-api-version': '2' }),
    { status: 400 },
    'X-Api-Version must be 1',
  ],
  ['no key', raw('{}', { 'x-api-key': '' }), { status: 401 }, 'missing', 'X-Api-Key', 'Bearer'],
  ['a truncated key', raw('{}', { 'x-api-key': 'fsk_live_abc' }), { status: 401 }, 'the whole key'],
  [
    'two keys',
    raw('{}', { authorization: 'Bearer fsk_live_abc' }),
    { status: 401 },
    'different keys',
    'Send one',
  ],
  [
    'an unknown route',
    rest('POST', '/v1/face/detect', {}),
    { status: 404 },
    'POST /v1/face/execute',
  ],
  ['a wrong method', rest('GET', '/v1/face/execute'), { status: 405 }, 'Use POST'],
]

const envelopes: readonly WrongCall[] = [
  ['no action', envelope({ params: {} }), invalid('action'), 'missing', 'svc.detect'],
  [
    'an action without its prefix',
    call('detect', {}),
    invalid('action'),
    'Did you mean "svc.detect"',
  ],
  ['a mistyped action', call('svc.identfy', {}), invalid('action'), 'Did you mean "svc.identify"'],
  ['no params', envelope({ action: 'svc.detect' }), invalid('params'), 'missing', 'an object'],
  [
    'a list as params',
    envelope({ action: 'svc.detect', params: [] }),
    invalid('params'),
    'an object',
  ],
  [
    'images beside params',
    envelope({ action: 'svc.detect', params: {}, images: [] }),
    invalid('images'),
    'into params',
  ],
  [
    'a requestId that is no UUID',
    envelope({ action: 'svc.detect', params: {}, requestId: '7' }),
    invalid('requestId'),
    'a UUID',
    'absent',
  ],
  [
    'debug as text',
    envelope({ action: 'svc.detect', params: {}, debug: 'true' }),
    invalid('debug'),
    'true or false, without quotes',
  ],
  [
    'a mistyped envelope field',
    envelope({ action: 'svc.detect', params: {}, requestID: id }),
    invalid('requestID'),
    'Rename it to requestId',
  ],
]

const images: readonly WrongCall[] = [
  [
    'no images',
    call('svc.detect', {}),
    invalid('params.images'),
    'missing',
    'a list of 1 to 10 items',
  ],
  [
    'image in place of images',
    call('svc.detect', { ...anna, image: {} }),
    invalid('params.image'),
    'Rename it to images',
  ],
  [
    'an image without a list',
    call('svc.detect', { images: {} }),
    invalid('params.images'),
    'a list of 1 to 10',
    'Put the object in a list',
  ],
  [
    'no image in the list',
    call('svc.detect', { images: [] }),
    invalid('params.images[0]'),
    'kind, bytes, contentType',
  ],
  [
    'eleven images',
    call('svc.detect', { images: Array.from({ length: 11 }, () => annaImage) }),
    invalid('params.images'),
    '1 to 10 images',
    '11',
  ],
  [
    'base64 without an object',
    call('svc.detect', { images: ['/9j/'] }),
    invalid('params.images[0]'),
    'an object with kind, bytes, contentType',
  ],
  [
    'no kind',
    call('svc.detect', withImage({ kind: undefined })),
    invalid('params.images[0].kind'),
    'missing',
    '"image"',
  ],
  [
    'no bytes',
    call('svc.detect', withImage({ bytes: undefined })),
    invalid('params.images[0].bytes'),
    'missing',
    'text',
  ],
  [
    'a data URL',
    call('svc.detect', withImage({ bytes: 'data:image/png;base64,AAAA' })),
    invalid('params.images[0].bytes'),
    'data URL',
    'Drop the prefix',
  ],
  [
    'an address as the image',
    call('svc.detect', withImage({ bytes: 'https://example.org/a.jpg' })),
    invalid('params.images[0].bytes'),
    'base64',
  ],
  [
    'base64url',
    call('svc.detect', withImage({ bytes: '_-8=' })),
    invalid('params.images[0].bytes'),
    'base64',
    'RFC 4648 section 4',
  ],
  [
    'bytes as a list of numbers',
    call('svc.detect', withImage({ bytes: [255, 216] })),
    invalid('params.images[0].bytes'),
    'text',
    'a list',
  ],
  [
    'a mistyped field of an image',
    call('svc.detect', withImage({ content_type: 'image/png' })),
    invalid('params.images[0].content_type'),
    'Rename it to contentType',
  ],
  [
    'another type of image',
    call('svc.detect', withImage({ contentType: 'image/webp' })),
    invalid('params.images[0].contentType'),
    '"image/jpeg"',
    '"image/png"',
  ],
  [
    'an empty image',
    call('svc.detect', withImage({ bytes: '' })),
    { code: 'IMAGE_DECODE_FAILED', path: 'params.images[0].bytes' },
    'empty',
    'Send the complete file',
  ],
  [
    'a GIF',
    call('svc.detect', withImage({ bytes: gif })),
    { code: 'UNSUPPORTED_IMAGE_TYPE', path: 'params.images[0].bytes' },
    'GIF',
    'JPEG or PNG',
  ],
  [
    'a wrong contentType',
    call('svc.detect', withImage({ bytes: pngHeader })),
    { code: 'UNSUPPORTED_IMAGE_TYPE', path: 'params.images[0].contentType' },
    'image/jpeg',
    'PNG',
  ],
  [
    'a tiny image',
    call('svc.detect', withImage({ bytes: pngHeader, contentType: 'image/png' })),
    { code: 'IMAGE_TOO_SMALL', path: 'params.images[0].bytes' },
    '10×10',
    'at least 32 px',
    'larger',
  ],
]

const parameters: readonly WrongCall[] = [
  [
    'a number as text',
    call('svc.detect', { ...anna, maxFaces: '3' }),
    invalid('params.maxFaces'),
    'a whole number from 1 to 100',
    'without quotes',
  ],
  [
    'a number out of range',
    call('svc.detect', { ...anna, minFaceConfidence: 60 }),
    invalid('params.minFaceConfidence'),
    'a number from 0 to 1',
    '60',
  ],
  [
    'a fraction',
    call('svc.detect', { ...anna, minFaceSize: 1.5 }),
    invalid('params.minFaceSize'),
    'a whole number',
    '1.5',
  ],
  [
    'a mistyped value',
    call('svc.detect', { ...anna, facePolicy: 'Single' }),
    invalid('params.facePolicy'),
    '"largest", "single", "strict"',
    'Did you mean "single"',
  ],
  [
    'a mistyped parameter',
    call('svc.identify', { ...anna, max_candidates: 1 }),
    invalid('params.max_candidates'),
    'Rename it to maxCandidates',
  ],
  [
    'a threshold as text',
    call('svc.identify', { ...anna, threshold: 'high' }),
    invalid('params.threshold'),
    'a number from 0 to 1 or "auto"',
  ],
  [
    'a group as text',
    call('svc.identify', { ...anna, groups: 'staff' }),
    invalid('params.groups'),
    'a list of 1 to 20',
    'in a list',
  ],
  [
    'a group with a space',
    call('svc.enroll', { ...anna, groups: ['night shift'] }),
    invalid('params.groups[0]'),
    'A-Z a-z 0-9',
  ],
  [
    'a local time',
    call('svc.enroll', { ...anna, expiresAtUtc: '2030-01-31 12:00' }),
    invalid('params.expiresAtUtc'),
    'ISO 8601 UTC',
    '2030-01-31T00:00:00Z',
  ],
  [
    'a time in the past',
    call('svc.enroll', { ...anna, expiresAtUtc: '2020-01-31T00:00:00Z' }),
    invalid('params.expiresAtUtc'),
    'must be after',
  ],
  [
    'attributes as text',
    call('svc.enroll', { ...anna, attributes: '{}' }),
    invalid('params.attributes'),
    'an object',
    'text',
  ],
  [
    'an externalId that is too long',
    call('svc.enroll', { ...anna, externalId: 'x'.repeat(129) }),
    invalid('params.externalId'),
    '1 to 128 characters',
    '129',
  ],
  [
    'no subjectId',
    call('svc.deleteSubject', {}),
    { code: 'INVALID_REQUEST' },
    'subjectId',
    'missing',
  ],
  [
    'a subjectId that is no UUID',
    call('svc.deleteSubject', { subjectId: '7' }),
    invalid('params.subjectId'),
    'a UUID',
  ],
  [
    'an unknown subject',
    call('svc.deleteSubject', { subjectId: id }),
    { code: 'SUBJECT_NOT_FOUND', path: 'params.subjectId' },
    'no subject',
    'GET /v1/subjects',
  ],
  ['one image to compare', call('svc.verify', anna), invalid('params.images'), 'two images'],
  [
    'two images for a subject',
    call('svc.verify', { images: [annaImage, annaImage], subjectId: id }),
    invalid('params.images'),
    'one image',
  ],
  [
    'a picture without a face',
    call('svc.verify', { images: [annaImage, { ...annaImage, bytes: encoded('[]') }] }),
    { code: 'NO_FACE_FOUND', path: 'params.images[1]' },
    'params.images[1]',
    'Show one face',
  ],
  [
    'several people',
    call('svc.enroll', imageParams('anna', 'ben')),
    { code: 'MULTIPLE_FACES', path: 'params.images[0]' },
    'facePolicy "largest"',
  ],
  [
    'a limit of a list',
    rest('GET', '/v1/subjects?limit=many'),
    { status: 400 },
    'query.limit',
    'a whole number from 1 to 200',
  ],
  [
    'a mistyped query',
    rest('GET', '/v1/subjects?externalID=1'),
    { status: 400 },
    'query.externalID',
    'Rename it to externalId',
  ],
  [
    'a mistyped cursor',
    rest('GET', '/v1/subjects?cursor=x'),
    { status: 400 },
    'cursor',
    'nextCursor',
  ],
  [
    'too many steps',
    rest('POST', '/v1/liveness/challenges', { steps: 9 }),
    { status: 400 },
    'body.steps',
    'from 2 to 4',
    '9',
  ],
  [
    'an unknown group',
    rest('DELETE', '/v1/groups/nobody'),
    { status: 404 },
    'no such group',
    'GET /v1/groups',
  ],
]

const wrongCalls = [...bodies, ...envelopes, ...images, ...parameters]

/** Texts of the validator and of the JSON parser. */
const internalText =
  /invalid (?:input|guid|string|option|iso)|received undefined|NaN|too (?:big|small):|unexpected|JSON at position/iu

test('The response to each of at least 60 wrong calls states the location, the rule and the remedy', async (t) => {
  assert.ok(wrongCalls.length >= 60, String(wrongCalls.length))
  for (const [title, run, { status = 200, code, path }, ...states] of wrongCalls) {
    const refusal = await run()
    t.diagnostic(`${title}: ${refusal.text}`)
    const shown = `${title}: ${JSON.stringify(refusal)}`
    assert.deepEqual(
      [refusal.status, refusal.code, refusal.path],
      [status, code, path ?? refusal.path],
      shown,
    )
    for (const text of states) assert.ok(refusal.text.includes(text), `${shown} lacks ${text}`)
    assert.doesNotMatch(refusal.text, internalText, shown)
  }
})

test('A requestId with other content is refused with the remedy', async () => {
  const requestId = randomUUID()
  await gallery.value('svc.detect', anna, { requestId })
  const refusal = await envelope({
    action: 'svc.detect',
    params: { ...anna, maxFaces: 1 },
    requestId,
  })()
  assert.deepEqual([refusal.code, refusal.path], ['REQUEST_ID_CONFLICT', 'requestId'])
  assert.match(refusal.text, /Use a new requestId/u)
})

test('An error names the image, its correlationId and what to change', async () => {
  const empty = { ...annaImage, bytes: encoded('[]'), correlationId: 'passport' }
  const { body } = await gallery.call('svc.verify', { images: [annaImage, empty] })
  const { code, path, imageIndex, correlationId, hint } = body.errors[0]
  assert.deepEqual(
    [code, path, imageIndex, correlationId],
    ['NO_FACE_FOUND', 'params.images[1]', 1, 'passport'],
  )
  assert.equal(typeof hint, 'string')
  const batch = await gallery.call('svc.identify', { images: [annaImage, empty] })
  const { error } = batch.body.data.results[1].value
  assert.deepEqual([error.imageIndex, error.correlationId], [1, 'passport'])
  const named = await gallery.call('svc.detect', { images: [annaImage, { ...empty, kind: 'x' }] })
  assert.deepEqual(
    [named.body.errors[0].imageIndex, named.body.errors[0].correlationId],
    [1, 'passport'],
  )
  const unnamed = await gallery.call('svc.detect', withImage({ kind: 'x' }))
  assert.equal(unnamed.body.errors[0].correlationId, 'auto-0')
})

test('A byte order mark, a trailing slash, a bearer key and null for optional fields are accepted', async () => {
  const params = { ...withImage({ correlationId: null }), maxFaces: null }
  const body = JSON.stringify({ action: 'svc.detect', params, requestId: null, debug: null })
  const { key, url } = gallery
  const post = (sent: string, path: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: sent,
    })
  for (const [path, headers] of [
    ['/v1/face/execute', { 'x-api-key': key }],
    ['/v1/face/execute/', { 'x-api-key': key }],
    ['/v1/face/execute', { authorization: `Bearer ${key}` }],
    ['/v1/face/execute', { authorization: `bearer ${key}`, 'x-api-key': key }],
    ['/v1/face/execute', { authorization: 'Basic eDp5', 'x-api-key': key }],
  ] as const) {
    const response = await post(`\uFEFF${body}`, path, headers)
    const answer = (await response.json()) as { ok?: boolean }
    assert.deepEqual([response.status, answer.ok], [200, true], JSON.stringify([path, answer]))
  }
  const refused = await post(body, '/v1/face/execute', { authorization: 'Basic eDp5' })
  assert.equal(refused.status, 401)
  assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer /u)
  const slash = await fetch(`${url}/v1/subjects/`, { headers: { authorization: `Bearer ${key}` } })
  assert.equal(slash.status, 200)
})
