import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { allActions } from '../../src/actions/all-actions.ts'
import { sessionFrameBytesMax } from '../../src/lib/limits/call-limits.ts'
import { setPrice } from '../../src/store/billing/prices.ts'
import { updateProject } from '../../src/store/tenancy/projects.ts'
import { fakeImage } from '../support/gallery/fake-vision.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

const isolated = { galleryMode: 'isolated' } as const
const subjectId = randomUUID()

test('Every action is validated with its price, without an effect, a charge or a use of its requestId', async () => {
  const client = await gallery.createProjectClient(isolated)
  const image = imageParams('Ada')
  const params: Readonly<Record<string, object>> = {
    'svc.verify': { ...image, subjectId },
    'svc.updateSubject': { subjectId, displayName: 'Ada' },
    'svc.deleteSubject': { subjectId },
  }
  const budget = async () => (await client.rest('GET', '/v1/me')).body.budget
  const before = await budget()
  const analyzed = gallery.vision.requests.length
  for (const { name, price } of allActions) {
    const sent = { action: name, params: params[name] ?? image, validateOnly: true }
    const { body } = await client.post({ ...sent, requestId: randomUUID() })
    const units = price(name in params && name !== 'svc.verify' ? 0 : 1)
    const validation = { priceMicros: String(units * 1000), billing: true }
    assert.deepEqual(body.data, { results: [], validation }, name)
  }
  assert.equal(gallery.vision.requests.length, analyzed)
  assert.deepEqual(await budget(), before)
  const requestId = randomUUID()
  const enroll = { action: 'svc.enroll', params: image, requestId }
  const checked = await client.post({ ...enroll, validateOnly: true })
  assert.equal(checked.body.requestId, requestId)
  const { body: run } = await client.post(enroll)
  assert.ok(run.ok)
  assert.equal(run.meta, undefined)
  assert.equal(run.data.results.length, 1)
  // An id that a call has used can be validated with any content.
  const { body: again } = await client.post({
    ...enroll,
    params: { images: [] },
    validateOnly: true,
  })
  assert.equal(again.errors[0].code, 'INVALID_REQUEST')
})

/** An image with zeros after its end. */
function frameOfSize(bytes: number) {
  const { bytes: image, contentType } = fakeImage('Ada')
  const padded = Buffer.concat([image, Buffer.alloc(bytes)]).subarray(0, bytes)
  return { kind: 'image', bytes: padded.toString('base64'), contentType }
}

const permissions = [
  'svc.enroll',
  'svc.identify',
  'svc.verify',
  'svc.updateSubject',
  'svc.liveness',
]

test('A call that would be rejected gets the same errors when it is only validated', async () => {
  const client = await gallery.createProjectClient({ ...isolated, permissions })
  const calls = [
    { action: 'svc.detect', params: imageParams('Ada') },
    { action: 'svc.enroll', params: imageParams('Ada'), debug: true },
    { action: 'svc.enroll', params: {} },
    { action: 'svc.enroll', params: { ...imageParams('Ada'), unknown: 1 } },
    { action: 'svc.enroll', params: { ...imageParams('Ada'), subjectId, force: true } },
    { action: 'svc.identify', params: { ...imageParams('Ada'), subjectId } },
    { action: 'svc.identify', params: {} },
    { action: 'svc.verify', params: imageParams('Ada') },
    { action: 'svc.identify', params: { ...imageParams('Ada'), sameSubject: true } },
    { action: 'svc.updateSubject', params: { subjectId, addGroups: ['a'], removeGroups: ['a'] } },
    {
      action: 'svc.liveness',
      params: { ...imageParams('Ada'), livenessSessionId: subjectId, allImages: true },
    },
    {
      action: 'svc.liveness',
      params: { images: [frameOfSize(sessionFrameBytesMax + 1)], livenessSessionId: subjectId },
    },
    {
      action: 'svc.enroll',
      params: { ...imageParams('Ada'), expiresAtUtc: '2020-01-01T00:00:00Z' },
    },
  ]
  for (const call of calls) {
    const { body: real } = await client.post(call)
    const { body: validated } = await client.post({ ...call, validateOnly: true })
    assert.ok(real.errors.length > 0)
    assert.deepEqual([validated.ok, validated.data], [false, null])
    assert.deepEqual(codesOf(validated.errors), codesOf(real.errors))
  }
  const { body } = await client.post({ ...calls[0], validateOnly: 'yes' })
  assert.match(body.errors[0].message, /^validateOnly: must be true or false/u)
})

type ReturnedError = { readonly code: string; readonly message: string }
// The message about an expiry contains the time of the call.
const codesOf = (errors: readonly ReturnedError[]) =>
  errors.map(({ code, message }) => [code, message.replace(/\d{4}-[\d-]+T\S+Z/u, '')])

test('A price above the budget is PAYMENT_REQUIRED, and a price equal to it is valid', async () => {
  const client = await gallery.createProjectClient(isolated)
  const { db } = gallery.database.store
  const { accountId, projectId } = client.project
  const validate = async () =>
    (await client.post({ action: 'svc.detect', params: imageParams('Ada'), validateOnly: true }))
      .body
  await setPrice(db, accountId, { action: 'svc.detect', unitMicros: 1_000_000_000n })
  assert.equal((await validate()).data.validation.priceMicros, '1000000000')
  await setPrice(db, accountId, { action: 'svc.detect', unitMicros: 1_000_000_001n })
  assert.deepEqual(
    (await validate()).errors.map(({ code }: ReturnedError) => code),
    ['PAYMENT_REQUIRED'],
  )
  await updateProject(db, projectId, { switches: { billing: false } })
  assert.equal((await validate()).data.validation.billing, false)
})
