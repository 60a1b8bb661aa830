import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { findCalls } from '../../support/find-calls.ts'
import { fakeImage } from '../../support/gallery/fake-vision.ts'
import { imageParams, startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'

const kibibyte = 1024

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({
    environment: {
      BINARY_BODIES: 'on',
      IMAGE_TYPES_EXTRA: 'webp',
      BODY_BYTES_MAX: String(64 * kibibyte),
      BODIES_PER_PROJECT_BYTES_MAX: String(100 * kibibyte),
    },
  })
})
after(() => gallery[Symbol.asyncDispose]())

const anna = fakeImage('anna').bytes
const execute = '/v1/face/execute'

type Sent = {
  readonly query?: Readonly<Record<string, string>> | string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

async function post(body: FormData | Buffer | string, { query = {}, type, headers }: Sent = {}) {
  const search = new URLSearchParams(query).toString()
  const response = await fetch(`${gallery.url}${execute}?${search}`, {
    method: 'POST',
    headers: { 'x-api-key': gallery.key, ...(type && { 'content-type': type }), ...headers },
    body: Buffer.isBuffer(body) ? new Uint8Array(body) : body,
  })
  const { status, headers: received } = response
  // oxlint-disable-next-line typescript/no-explicit-any
  return { status, headers: received, body: (await response.json()) as any }
}

function createForm(
  fields: Readonly<Record<string, string>>,
  files: readonly (readonly [name: string, bytes: Buffer, type?: string])[] = [['image', anna]],
): FormData {
  const form = new FormData()
  for (const [name, text] of Object.entries(fields)) form.append(name, text)
  for (const [name, bytes, type = 'image/jpeg'] of files)
    form.append(name, new Blob([new Uint8Array(bytes)], { type }), 'photo.jpg')
  return form
}

test('A form, an image as the body and JSON are the same call, also for a retry', async () => {
  const requestId = randomUUID()
  const params = { maxFaces: 3, returnLandmarks: false }
  const fields = { action: 'svc.detect', requestId, params: JSON.stringify(params) }
  const named = { ...fields, correlationId: 'door 3' }
  const first = await post(createForm(named))
  assert.equal(first.body.ok, true, JSON.stringify(first.body))
  const [result] = first.body.data.results
  assert.deepEqual([result.correlationId, result.value.faceCount], ['door 3', 1])
  assert.equal('landmarks' in result.value.faces[0], false)
  const raw = await post(anna, { query: named, type: 'image/jpeg' })
  const images = (imageParams('anna') as { images: object[] }).images
  const json = await gallery.call(
    'svc.detect',
    { ...params, images: [{ ...images[0], correlationId: 'door 3' }] },
    { requestId },
  )
  for (const replay of [raw, json]) {
    assert.deepEqual(replay.body.data, first.body.data)
    assert.deepEqual(replay.body.meta, { idempotencyReplay: true })
  }
  const rows = await findCalls(gallery.database.store.db, { action: 'svc.detect', limit: 3 })
  assert.deepEqual(
    rows.map(({ code, costMicros }) => [code, costMicros]),
    [
      ['OK', 0n],
      ['OK', 0n],
      ['OK', 1000n],
    ],
  )
  const other = await post(anna, { query: { ...fields, debug: 'true' }, type: 'image/jpeg' })
  assert.equal(other.body.errors[0].code, 'REQUEST_ID_CONFLICT')
})

test('Every action with one image works as a form and as a body', async () => {
  const enrolled = await post(
    createForm({ action: 'svc.enroll', params: '{"externalId":"anna","groups":["staff"]}' }),
  )
  const { subjectId } = enrolled.body.data.results[0].value
  for (const [action, params] of [
    ['svc.identify', { groups: ['staff'] }],
    ['svc.verify', { subjectId }],
    ['svc.updateSubject', { subjectId }],
    ['svc.analyze', {}],
    ['svc.attributes', {}],
    ['svc.liveness', {}],
  ] as const) {
    const query = { action, params: JSON.stringify(params) }
    for (const { body } of [
      await post(createForm(query)),
      await post(anna, { query, type: 'image/jpeg' }),
    ])
      assert.equal(body.ok, true, `${action}: ${JSON.stringify(body.errors)}`)
  }
})

test('The type of a file in a form is that of the part, or detected if the part has none', async () => {
  const action = { action: 'svc.detect' }
  const bmp = await post(createForm(action, [['image', anna, 'image/bmp']]))
  const { code, path } = bmp.body.errors[0]
  assert.deepEqual([code, path], ['INVALID_REQUEST', 'params.images[0].contentType'])
  const unknown = await post(createForm(action, [['image', anna, 'application/octet-stream']]))
  assert.equal(unknown.body.ok, true)
  const webp = await post(anna, { query: action, type: 'image/webp' })
  assert.equal(webp.body.ok, true, 'the fake images have no type')
})

test('Each wrong request states the location, the rule and the remedy', async () => {
  const query = { action: 'svc.detect' }
  const type = 'image/jpeg'
  const jpeg = (changed: Sent) => post(anna, { query, type, ...changed })
  const form = (
    fields: Readonly<Record<string, string>>,
    ...files: (readonly [string, Buffer])[]
  ) => post(createForm(fields, files))
  const image = ['image', anna] as const
  const cases: readonly (readonly [
    Promise<{ status: number; body: object }>,
    number,
    ...string[],
  ])[] = [
    [jpeg({ query: {} }), 200, 'action: missing; must be one of'],
    [jpeg({ query: { action: 'detect' } }), 200, 'Did you mean \\"svc.detect\\"?'],
    [jpeg({ query: { ...query, maxFaces: '3' } }), 200, 'maxFaces: unknown field', 'params'],
    [jpeg({ query: { ...query, debug: 'yes' } }), 200, 'debug: must be true or false'],
    [jpeg({ query: { ...query, requestId: '7' } }), 200, 'requestId: must be a UUID'],
    [
      jpeg({ query: { ...query, params: '{maxFaces:3}' } }),
      400,
      'The field params is not valid JSON: line 1, column 2',
    ],
    [jpeg({ query: { ...query, params: '[]' } }), 400, 'The field params must be a JSON object'],
    [
      jpeg({ query: { ...query, params: '{"maxFaces":0}' } }),
      200,
      'params.maxFaces: must be a whole number from 1 to 100',
    ],
    [
      jpeg({ query: { ...query, params: '{"images":[]}' } }),
      200,
      'params.images: must be absent; the body has the image',
    ],
    [
      jpeg({ query: 'action=svc.detect&action=svc.analyze' }),
      400,
      'The field action is duplicated',
    ],
    [jpeg({ query: { action: 'svc.deleteSubject' } }), 200, 'params.images: unknown field'],
    [jpeg({ type: 'image/bmp' }), 415, 'image/webp; it is image/bmp'],
    [jpeg({ type: 'text/plain' }), 415, 'multipart/form-data, image/jpeg'],
    [jpeg({ headers: { 'content-encoding': 'gzip' } }), 415, 'Content-Encoding'],
    [jpeg({ headers: { 'x-api-key': 'fsk_live_wrong' } }), 401, 'key'],
    [post(Buffer.alloc(65 * kibibyte), { query, type }), 413, 'over 65536 bytes'],
    [
      post('no form', { type: 'multipart/form-data; boundary=x' }),
      400,
      'does not begin with its boundary',
    ],
    [form(query), 200, 'body.image: missing; must be a file of the form'],
    [
      form({ ...query, image: 'x' }),
      200,
      'body.image: must be a file, not text',
      'image=@photo.jpg',
    ],
    [form(query, ['photo', anna]), 200, 'body.photo: the file must have the name image'],
    [form(query, image, image), 200, 'body.image: must be one file, not 2', 'send JSON'],
    [form({ ...query, params: '{"a":' }, image), 400, 'The field params is not valid JSON'],
  ]
  for (const [sent, status, ...texts] of cases) {
    const response = await sent
    const shown = JSON.stringify(response.body)
    assert.equal(response.status, status, shown)
    for (const text of texts) assert.ok(shown.includes(text), `${shown} lacks ${text}`)
    if (status === 200) assert.equal('errors' in response.body, true, shown)
  }
})

test('Fields of the envelope in the query of JSON or of a form are refused', async () => {
  const fields = { action: 'svc.detect', requestId: randomUUID() }
  const query = { validateOnly: 'true', source: 'door' }
  const json = JSON.stringify({ ...fields, params: imageParams('anna') })
  for (const response of [
    await post(json, { query, type: 'application/json' }),
    await post(createForm(fields), { query }),
  ]) {
    assert.equal(response.body.errors?.[0]?.code, 'INVALID_REQUEST')
    const [{ message }] = response.body.errors
    assert.match(message, /query\.validateOnly: must be absent; send validateOnly in the body/u)
    assert.doesNotMatch(message, /source/u)
  }
})

test('A refused image or form returns its requestId in X-Request-Id', async () => {
  const requestId = randomUUID()
  const fields = { action: 'svc.detect', requestId, params: '{' }
  const refused = [
    post(anna, { query: fields, type: 'image/jpeg' }),
    post(anna, { query: fields, type: 'image/bmp' }),
    post(Buffer.alloc(65 * kibibyte), { query: fields, type: 'image/jpeg' }),
    post(createForm(fields)),
  ]
  const statuses: number[] = []
  for (const sent of refused) {
    const { status, headers } = await sent
    statuses.push(status)
    assert.equal(headers.get('x-request-id'), requestId, String(status))
  }
  assert.deepEqual(statuses, [400, 415, 413, 400])
})

test('A call with an image as the body has the permissions and limits of JSON, and its memory is released', async () => {
  const query = { action: 'svc.detect' }
  const { key } = await gallery.createProjectClient({ galleryMode: 'isolated', permissions: ['x'] })
  const refused = await post(anna, { query, type: 'image/jpeg', headers: { 'x-api-key': key } })
  assert.equal(refused.body.errors[0].code, 'FORBIDDEN')
  // Each body takes more than half of the budget of the key.
  const padded = Buffer.concat([anna, Buffer.alloc(60 * kibibyte, ' ')])
  for (let count = 0; count < 3; count++)
    assert.equal((await post(padded, { query, type: 'image/jpeg' })).body.ok, true)
})

test('Images and forms are refused unless the setting permits them', async () => {
  await using standard = await startGallery()
  for (const type of ['image/jpeg', 'multipart/form-data; boundary=x']) {
    const response = await fetch(`${standard.url}${execute}?action=svc.detect`, {
      method: 'POST',
      headers: { 'x-api-key': standard.key, 'content-type': type },
      body: new Uint8Array(anna),
    })
    const { detail } = (await response.json()) as { detail: string }
    assert.equal(response.status, 415)
    assert.match(detail, /must be application\/json; it is \S+\. The setting BINARY_BODIES=on/u)
  }
})
