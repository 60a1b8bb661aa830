import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createClient } from '../../client/src/node.ts'
import { findCalls } from '../support/find-calls.ts'
import { fakeImage } from '../support/gallery/fake-vision.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

const createProject = () => gallery.createProjectClient({ galleryMode: 'isolated' })
const replayed = { idempotencyReplay: true }
const redacted = { redacted: true, ...replayed }

test('After a deletion, replays keep the decision, lose the identity and are marked as redacted', async () => {
  const client = await createProject()
  const identity = { externalId: 'zoe-1', displayName: 'Zoe Q', groups: ['quire'] }
  const enrollment = {
    action: 'svc.enroll',
    requestId: randomUUID(),
    params: { ...imageParams('Zoe'), ...identity },
  }
  const { subjectId } = (await client.post(enrollment)).body.data.results[0].value
  const other = await client.value('svc.enroll', {
    ...imageParams({ name: 'Zoe', deviation: 0.3 }),
    externalId: 'other-1',
    duplicateCheck: 'off',
  })
  const calls = [
    enrollment,
    ...[
      { action: 'svc.identify', params: imageParams('Zoe') },
      { action: 'svc.identify', params: { subjectId: other.subjectId } },
      { action: 'svc.verify', params: { ...imageParams('Zoe'), subjectId } },
      { action: 'svc.updateSubject', params: { subjectId, attributes: { secret: 'quill' } } },
      { action: 'svc.updateSubject', params: { subjectId, removeGroups: ['quorum'] } },
      { action: 'svc.identify', params: { ...imageParams('Zoe'), groups: ['quire', 'quota'] } },
    ].map((call) => ({ ...call, requestId: randomUUID() })),
  ]
  const decisionsOf = async () =>
    Promise.all(
      calls.map(async (call) => {
        const { body } = await client.post(call)
        assert.equal(body.ok, true, JSON.stringify(body))
        const { matched, faces = [] } = body.data.results[0].value
        const facesMatched = faces.map((face: { matched?: boolean }) => face.matched)
        return { decision: [matched, facesMatched], meta: body.meta, text: JSON.stringify(body) }
      }),
    )
  const first = await decisionsOf()
  const before = await decisionsOf()
  assert.deepEqual(
    before.map(({ meta }) => meta),
    calls.map(() => replayed),
  )
  const deletion = { action: 'svc.deleteSubject', requestId: randomUUID(), params: { subjectId } }
  const record = await client.post(deletion)
  const after = await decisionsOf()
  for (const [index, { decision, meta, text }] of after.entries()) {
    assert.deepEqual(decision, first[index]?.decision)
    assert.deepEqual(meta, redacted)
    for (const personal of ['zoe-1', 'other-1', 'Zoe Q', 'quire', 'quill', 'quorum', 'quota'])
      assert.ok(!text.includes(personal), `a replay contains ${personal}: ${text}`)
  }
  assert.deepEqual(
    after.map(({ decision: [matched] }) => matched),
    [undefined, true, true, true, undefined, undefined, true],
  )
  assert.deepEqual(await decisionsOf(), after)
  const repeated = await client.post(deletion)
  assert.deepEqual([repeated.body.data, repeated.body.meta], [record.body.data, replayed])
})

test('After a deletion, the replay of an error does not contain the ids of the subject', async () => {
  const client = await createProject()
  const externalId = 'yan-1'
  const { images } = imageParams('Yan') as { images: readonly unknown[] }
  const { subjectId, faceId } = await client.value('svc.enroll', {
    ...imageParams('Yan'),
    externalId,
  })
  const enroll = (params: object) => ({
    action: 'svc.enroll',
    requestId: randomUUID(),
    params: { ...imageParams('Yan'), ...params },
  })
  const calls = [
    enroll({ externalId, onExisting: 'reject' }),
    enroll({ externalId: 'yan-2', duplicateCheck: 'reject' }),
    enroll({ subjectId, images: [...images, ...images], allImages: true }),
  ]
  const post = async () => Promise.all(calls.map(async (call) => (await client.post(call)).body))
  const codes = ['EXTERNAL_ID_CONFLICT', 'DUPLICATE_SUBJECT', 'FACE_ALREADY_ENROLLED']
  for (const [index, body] of (await post()).entries()) {
    assert.equal(body.errors[0].code, codes[index])
    assert.ok(JSON.stringify(body).includes(index === 2 ? faceId : subjectId))
  }
  await client.value('svc.deleteSubject', { subjectId })
  for (const [index, body] of (await post()).entries()) {
    assert.equal(body.errors[0].code, codes[index])
    assert.deepEqual(body.meta, redacted)
    for (const id of [subjectId, faceId]) assert.ok(!JSON.stringify(body).includes(id))
  }
})

test('A call whose conflicting subject is deleted meanwhile runs again, and is charged once', async () => {
  let beforeSettling: () => Promise<unknown> = async () => undefined
  await using own = await startGallery({
    beforeStep: async (step) => void (step === 'settle' && (await beforeSettling())),
  })
  const enrollment = { ...imageParams('Yan'), externalId: 'yan-1' }
  const { subjectId } = await own.value('svc.enroll', enrollment)
  const call = {
    action: 'svc.enroll',
    requestId: randomUUID(),
    params: { ...enrollment, onExisting: 'reject' },
  }
  const conflict = await own.post({ ...call, requestId: randomUUID() })
  assert.equal(conflict.body.errors[0].subjectId, subjectId)
  beforeSettling = async () => {
    beforeSettling = async () => undefined
    await own.value('svc.deleteSubject', { subjectId })
  }
  const { body } = await own.post(call)
  assert.deepEqual([body.ok, body.meta], [true, undefined])
  assert.equal(body.data.results[0].value.created, true)
  assert.notEqual(body.data.results[0].value.subjectId, subjectId)
  const logged = await findCalls(own.database.store.db, { action: 'svc.enroll', limit: 9 })
  assert.deepEqual(
    logged.map(({ code, costMicros }) => [code, costMicros]),
    [
      ['OK', 2000n],
      ['EXTERNAL_ID_CONFLICT', 0n],
      ['OK', 2000n],
    ],
  )
  await assertLedgerAudit(own)
})

test('The client states that a replay is redacted', async () => {
  const { key } = await createProject()
  const client = createClient({ baseUrl: gallery.url, apiKey: key })
  const image = { bytes: fakeImage('Ivo').bytes, contentType: 'image/jpeg' as const }
  const { subjectId } = await client.enroll(image)
  const requestId = randomUUID()
  const search = () => client.try.identify([image], {}, { requestId })
  const stateOf = (outcome: Awaited<ReturnType<typeof search>>) =>
    outcome.ok ? [outcome.isReplay, outcome.isRedacted] : outcome.error
  assert.deepEqual(stateOf(await search()), [false, false])
  await client.deleteSubject(subjectId)
  assert.deepEqual(stateOf(await search()), [true, true])
})
