import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, mock, test } from 'node:test'
import { updateProject } from '../../../src/store/tenancy/projects.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../../support/gallery/test-gallery.ts'
import { createTestSteadyClock } from '../../support/gate/test-steady-clock.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

let gallery: TestGallery
before(async () => {
  // An exhausted rate limit stays exhausted.
  gallery = await startGallery({
    wrapStore: createTestSteadyClock().wrapStore,
    environment: { BINARY_BODIES: 'on' },
  })
})
after(() => gallery[Symbol.asyncDispose]())

const start = '{"action":"svc.detect","params":{"text":"'

const imageStart = '{"action":"svc.detect","params":{"images":[{"bytes":"'

/** Returns a body of 24 MiB that consists of one text, by default in the place of an image. */
function bodyOf(filling: string, before = imageStart, after = '"}]}}'): Buffer {
  const length = 24 * mebibyte - before.length - after.length
  const text = Buffer.alloc(length - (length % filling.length), filling)
  return Buffer.concat([Buffer.from(before), text, Buffer.from(after)])
}

test('Bodies that would block the event loop are rejected by what they contain too much of', async () => {
  const full = 24 * mebibyte
  const bodies: Readonly<Record<string, readonly [Buffer, RegExp]>> = {
    digits: [Buffer.alloc(full, '1'), /262144 bytes outside texts/u],
    spaces: [Buffer.alloc(full, ' '), /262144 bytes outside texts/u],
    'a text before spaces': [Buffer.alloc(full, ' ').fill('{""', 0, 3), /262144 bytes outside/u],
    'escaped quotes': [bodyOf('\\"'), /20000 texts and escaped quotes/u],
    'empty texts': [Buffer.alloc(full, '"'), /20000 texts and escaped quotes/u],
    'a long key': [Buffer.from(`{"${'k'.repeat(full - 6)}":1}`), /a key over 1024 bytes/u],
    'many texts of 1 KiB': [
      Buffer.from(`["${Array(9000).fill('a'.repeat(kibibyte)).join('","')}"`),
      /1048576 bytes in texts of up to 1024 bytes/u,
    ],
    'a text without an end': [Buffer.alloc(full, '\\'), /outside texts/u],
    'an error after a long text': [
      Buffer.from(`{"a":"${'é'.repeat(8 * mebibyte)}"x}`),
      /byte 16777224: expected a comma or \}/u,
    ],
    'escapes of other characters': [
      bodyOf('\\u00e9'),
      /over 1048576 bytes must contain only ASCII/u,
    ],
    'an escape that is invalid': [bodyOf('\\x'), /bytes 54 to 10486\d\d: expected a text/u],
  }
  for (const [name, [body, detail]] of Object.entries(bodies)) {
    const response = await gallery.post(body)
    assert.equal(response.status, 400, name)
    assert.match(response.body.detail, detail, name)
  }
})

test('The limits of the bytes outside texts and of escaped quotes are exact', async () => {
  const post = async (body: string): Promise<number> => (await gallery.post(body)).status
  const spaces = (count: number) => `{"action":"x","params":{}${' '.repeat(count)}}`
  const outside = 256 * kibibyte - '{:,:{}}'.length
  assert.equal(await post(spaces(outside)), 200)
  assert.equal(await post(spaces(outside + 1)), 400)
  const quotes = (count: number) => `${start}${'\\"'.repeat(count)}"}}`
  assert.equal(await post(quotes(20_000 - 5)), 200)
  assert.equal(await post(quotes(20_000 - 4)), 400)
  const short = (last: number) => {
    const outline = '{"action":"x","params":{"a":[]}}'
    const texts = Array<string>(1023).fill('a'.repeat(kibibyte))
    const others = 'action'.length + 'x'.length + 'params'.length + 'a'.length
    const all = [...texts, 'a'.repeat(last - others)].map((text) => `"${text}"`)
    return outline.replace('[]', `[${all.join(',')}]`)
  }
  assert.equal(await post(short(kibibyte)), 200)
  assert.equal(await post(short(kibibyte + 1)), 400)
  const key = (length: number) => `{"action":"x","params":{"${'k'.repeat(length)}":1}}`
  assert.equal(await post(key(kibibyte)), 200)
  assert.equal(await post(key(kibibyte + 1)), 400)
})

test('A large call with escaped characters has the result of the same call without escapes', async () => {
  const { images } = imageParams('anna') as { readonly images: readonly object[] }
  const bytes = 'a/+'.repeat(400_000)
  const requestId = randomUUID()
  const call = { requestId, action: 'svc.detect', params: { images: [{ ...images[0], bytes }] } }
  const plain = JSON.stringify(call)
  const escaped = plain.replaceAll('/+', '\\/\\u002b')
  const [first, second] = [await gallery.post(plain), await gallery.post(escaped)]
  assert.deepEqual(second.body.errors, first.body.errors)
  assert.equal(second.body.meta?.idempotencyReplay, true, 'the same content')
  assert.equal(first.body.errors[0].path, 'params.images[0]')
})

test('Texts that are no images have at most 256 KiB together, and are rejected before they are decoded', async () => {
  const longest = 256 * kibibyte
  const [image] = (imageParams('anna') as { readonly images: readonly object[] }).images
  const large = { ...image, bytes: 'a'.repeat(mebibyte) }
  const errorsOf = async (call: object, end = '') => {
    const json = JSON.stringify({ action: 'svc.enroll', params: {}, ...call })
    const { status, body } = await gallery.post(json.replaceAll('#', end))
    assert.equal(status, 200)
    return body.errors
  }
  const accepted = {
    images: [large],
    text: 'a'.repeat(longest),
    short: Array(100).fill('a'.repeat(kibibyte)),
  }
  assert.doesNotMatch(JSON.stringify(await errorsOf({ params: accepted })), /shorter/u)
  const tooLong = `${'a'.repeat(longest - 1)}#`
  const rejected: readonly (readonly [string, object])[] = [
    ['params.subjectId', { params: { images: [large], subjectId: tooLong } }],
    ['params.images[0]', { params: { images: [tooLong] } }],
    ['params.images[0].contentType', { params: { images: [{ ...large, contentType: tooLong }] } }],
    ['params.images[0].bytes', { params: { images: [{ ...large, bytes: `é${tooLong}` }] } }],
    [
      'params.attributes["a b"][1]',
      { params: { attributes: { 'a b': ['a'.repeat(1025), tooLong] } } },
    ],
    ['params["images[0].bytes"]', { params: { 'images[0].bytes': tooLong } }],
    ['params', { params: tooLong }],
    ['action', { action: tooLong }],
    ['requestId', { requestId: tooLong }],
  ]
  for (const [path, call] of rejected) {
    const [{ code, message, hint, ...error }, ...others] = await errorsOf(call, '\\x')
    assert.deepEqual([code, error.path, others], ['INVALID_REQUEST', path, []])
    assert.match(message, /must be shorter; .* at most 262144 bytes together$/u)
    assert.match(hint, /params\.images\[\]\.bytes/u)
  }
  const [unknown] = await errorsOf({ 'a b': tooLong }, '\\x')
  assert.match(unknown.message, /^\["a b"\]: must be shorter/u)
})

/** A large call whose long text is not JSON at its end. */
const undecodable = (requestId: string, action = 'svc.detect') =>
  JSON.stringify({
    requestId,
    action,
    params: { images: [{ bytes: 'a'.repeat(mebibyte) }] },
  }).replace(/a"\}\]\}\}$/u, '\\x"}]}}')

test('An exhausted rate limit rejects a large call before its texts are decoded, with its ids', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const requestId = randomUUID()
  assert.equal((await client.post(undecodable(requestId))).status, 400, 'within the limit')
  const { db } = gallery.database.store
  const { projectId } = client.project
  await updateProject(db, projectId, { sustainedPerS: 1, burst: 1 })
  // No token, however long the call takes to arrive.
  await db
    .updateTable('buckets')
    .set({ fullAtUs: 2 ** 50 })
    .where('projectId', '=', projectId)
    .execute()
  const { status, body, headers } = await client.post(undecodable(requestId))
  assert.equal(status, 200)
  assert.equal(body.errors[0].code, 'RATE_LIMITED')
  assert.equal(headers.get('ratelimit-remaining'), '0')
  assert.deepEqual([body.requestId, body.action], [requestId, 'svc.detect'])
  // A small body is decoded first, as the order of the checks requires.
  assert.equal((await client.post('{"action":"svc.detect","params":"\\x"}')).status, 400)
})

test('A large call without permission is rejected before its texts are decoded', async () => {
  const permissions = ['svc.detect']
  const client = await gallery.createProjectClient({ galleryMode: 'isolated', permissions })
  const { body } = await client.post(undecodable(randomUUID(), 'svc.enroll'))
  assert.equal(body.errors[0].code, 'FORBIDDEN')
})

/** An image that is no image, as the body or as the file of a form. The query has a wrong field. */
async function postImage(
  { url, key }: GalleryClient,
  isForm: boolean,
  fields: Readonly<Record<string, string>> = {},
) {
  const image = new Uint8Array(mebibyte)
  const texts = Object.entries({ action: 'svc.detect', debug: 'x', ...fields })
  const form = new FormData()
  for (const [name, text] of texts) form.append(name, text)
  form.append('image', new Blob([image]))
  const query = isForm ? '' : `?${new URLSearchParams(texts).toString()}`
  const response = await fetch(`${url}/v1/face/execute${query}`, {
    method: 'POST',
    headers: { 'x-api-key': key, ...(!isForm && { 'content-type': 'image/jpeg' }) },
    body: isForm ? form : image,
  })
  // oxlint-disable-next-line typescript/no-explicit-any
  return { status: response.status, body: (await response.json()) as any }
}

test('An exhausted rate limit or a missing permission rejects a large image before it is encoded', async () => {
  const permissions = ['svc.detect']
  const client = await gallery.createProjectClient({ galleryMode: 'isolated', permissions })
  const { db } = gallery.database.store
  const codeOf = async (isForm: boolean, action = 'svc.detect'): Promise<string> => {
    const { body } = await postImage(client, isForm, { action })
    return body.errors[0].code
  }
  for (const isForm of [false, true]) {
    assert.equal(await codeOf(isForm), 'INVALID_REQUEST', 'the wrong field is found later')
    assert.equal(await codeOf(isForm, 'svc.enroll'), 'FORBIDDEN')
  }
  await updateProject(db, client.project.projectId, { sustainedPerS: 1, burst: 1 })
  await client.call('svc.detect', {})
  for (const isForm of [false, true]) assert.equal(await codeOf(isForm), 'RATE_LIMITED')
})

test('A text of a form has at most 256 KiB', async () => {
  const post = (length: number) => postImage(gallery, true, { text: 'a'.repeat(length) })
  assert.equal((await post(256 * kibibyte)).status, 200)
  const { status, body } = await post(256 * kibibyte + 1)
  assert.equal(status, 400)
  assert.match(body.detail, /The field text is over 262144 bytes/u)
})

test('Only short texts are normalized, whose combining marks are sorted quickly', async () => {
  const normalize = mock.method(String.prototype, 'normalize')
  const marks = '\u0300'.repeat(1000) + '\u0316'.repeat(1000)
  const ids = [
    ['externalId', 'svc.enroll'],
    ['displayName', 'svc.enroll'],
    ['externalId', 'svc.updateSubject'],
    ['externalId', 'svc.verify'],
  ] as const
  for (const [name, action] of ids) {
    const { body } = await gallery.call(action, {
      ...imageParams('anna'),
      [name]: marks + marks,
    })
    const message = JSON.stringify(body.errors)
    assert.match(message, /must be text of 1 to (?:128|256) characters/u, action)
  }
  const lengths = normalize.mock.calls.map(({ this: text }) => String(text).length)
  normalize.mock.restore()
  assert.ok(Math.max(0, ...lengths) <= 2048, String(Math.max(...lengths)))
})

test('Parameters that are a text are described as one text, not by their characters', async () => {
  const entries = mock.method(Object, 'entries')
  const responses = []
  for (const action of ['svc.detect', 'unknown'])
    responses.push(
      await gallery.post(JSON.stringify({ action, params: 'é'.repeat(128 * kibibyte) })),
    )
  const counts = entries.mock.calls.map(({ result = [] }) => result.length)
  entries.mock.restore()
  for (const { body } of responses)
    assert.match(JSON.stringify(body.errors), /params: must be an object/u)
  assert.ok(Math.max(0, ...counts) < 10_000, String(Math.max(...counts)))
})

test('Patterns and the size of JSON are checked in short texts only', async () => {
  const testPattern = mock.method(RegExp.prototype, 'test')
  const stringify = mock.method(JSON, 'stringify')
  const lowerCase = mock.method(String.prototype, 'toLowerCase')
  const text = '2030-01-31T00:00:00.'.padEnd(256 * kibibyte, '0')
  const fields = {
    subjectId: text,
    externalId: text,
    displayName: text,
    expiresAtUtc: text,
    attributes: { a: [text] },
  }
  for (const [name, value] of Object.entries(fields)) {
    const params = { ...imageParams('anna'), [name]: value }
    const sent = Buffer.from(JSON.stringify({ action: 'svc.enroll', params }))
    stringify.mock.resetCalls()
    const { body } = await gallery.post(sent)
    assert.match(JSON.stringify(body.errors), new RegExp(`params.${name}: must be`, 'u'))
    const jsonLengths = stringify.mock.calls.map(({ result }) => String(result).length)
    assert.ok(Math.max(...jsonLengths) < text.length, name)
  }
  // Only the patterns of fields; those of the parser are linear.
  const fieldPatterns = testPattern.mock.calls.filter(({ this: pattern }) =>
    /Cc|T\(/u.test(String(pattern)),
  )
  const lowerCaseLengths = lowerCase.mock.calls.map(({ this: lowered }) => String(lowered).length)
  mock.restoreAll()
  const lengths = fieldPatterns.map(({ arguments: [tested] }) => tested.length)
  assert.ok(Math.max(0, ...lengths, ...lowerCaseLengths) < text.length)
})
