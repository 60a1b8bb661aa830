import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { budgetLedger } from '../../src/store/tenancy/projects.ts'
import { findBalance } from '../../src/store/billing/balances.ts'
import type { Project } from '../../src/store/tenancy/projects.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import type { FakePerson } from '../support/gallery/fake-vision.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

const budget = async ({ project }: { readonly project: Project }): Promise<bigint> =>
  (await findBalance(gallery.database.store.db, budgetLedger(project.projectId))).balanceMicros

const checkLiveness = (person: Partial<FakePerson>, params: object = {}) =>
  gallery.value('svc.liveness', { ...imageParams({ name: 'Ada', ...person }), ...params })

test('A high score is live, a low score is a spoof, and a score between the thresholds is uncertain', async () => {
  const live = await checkLiveness({})
  assert.deepEqual(
    [live.decision, live.live, live.score, live.threshold, live.reasons],
    ['live', true, 0.99, 0.5, []],
  )
  assert.equal(live.faceCount, 1)
  assert.equal(live.debug, undefined)
  const spoof = await checkLiveness({ liveness: { score: 0.2 } })
  assert.deepEqual([spoof.decision, spoof.live, spoof.reasons], ['spoof', false, []])
  const between = await checkLiveness({ liveness: { score: 0.45 } })
  assert.deepEqual(
    [between.decision, between.live, between.reasons],
    ['uncertain', false, ['INCONCLUSIVE']],
  )
})

test('Each condition that prevents a decision makes it uncertain with its reason, whatever the score', async () => {
  const conditions: readonly (readonly [string, Partial<FakePerson>])[] = [
    ['FACE_TOO_SMALL', { side: 50 }],
    ['FACE_TOO_CLOSE_TO_EDGE', { left: 0 }],
    ['FACE_TOO_CLOSE_TO_EDGE', { left: 800 }],
    ['FACE_TOO_CLOSE_TO_EDGE', { liveness: { hasContext: false } }],
    ['EXTREME_POSE', { yaw: 50 }],
    ['LOW_QUALITY', { quality: 20 }],
    ['LOW_QUALITY', { liveness: { hasColour: false } }],
  ]
  for (const [reason, person] of conditions)
    for (const score of [0.01, 0.45, 0.99]) {
      const { liveness } = person
      const result = await checkLiveness({ ...person, liveness: { ...liveness, score } })
      assert.deepEqual(
        [result.decision, result.live, result.reasons],
        ['uncertain', false, [reason]],
      )
    }
})

test('Another face in the image prevents the decision live, but not the decision spoof', async () => {
  const withOtherFace = (score: number) =>
    gallery.value(
      'svc.liveness',
      imageParams({ name: 'Ada', liveness: { score } }, { name: 'Bea', side: 100 }),
    )
  const live = await withOtherFace(0.99)
  assert.deepEqual([live.decision, live.reasons], ['uncertain', ['MULTIPLE_FACES']])
  assert.equal(live.faceCount, 2)
  const spoof = await withOtherFace(0.1)
  assert.deepEqual([spoof.decision, spoof.reasons], ['spoof', ['MULTIPLE_FACES']])
  const single = { ...imageParams('Ada', 'Bea'), facePolicy: 'single' }
  assert.equal(await gallery.code('svc.liveness', single), 'MULTIPLE_FACES')
})

test('The threshold of a request moves the limit of live, and the limit of spoof stays below it', async () => {
  const decisionFor = async (score: number, threshold: number) =>
    (await checkLiveness({ liveness: { score } }, { threshold })).decision
  assert.equal(await decisionFor(0.6, 0.7), 'uncertain')
  assert.equal(await decisionFor(0.7, 0.7), 'live')
  assert.equal(await decisionFor(0.3, 0.7), 'spoof')
  assert.equal(await decisionFor(0.3, 0.2), 'live')
  assert.equal(await decisionFor(0.1, 0.2), 'spoof')
  assert.equal((await checkLiveness({}, { threshold: 0.7 })).threshold, 0.7)
  const { body } = await gallery.call('svc.liveness', { ...imageParams('Ada'), threshold: 2 })
  assert.match(body.errors[0].message, /^params\.threshold: /u)
})

test('An image without a face, or with a face too small or too poor, is an error', async () => {
  assert.equal(await gallery.code('svc.liveness', imageParams()), 'NO_FACE_FOUND')
  assert.equal(
    await gallery.code('svc.liveness', imageParams({ name: 'S', side: 20 })),
    'FACE_TOO_SMALL',
  )
  const poor = { ...imageParams({ name: 'Q', quality: 20 }), minQuality: 30 }
  assert.equal(await gallery.code('svc.liveness', poor), 'LOW_QUALITY')
})

test('debug contains the liveness models and their scores', async () => {
  const { debug } = await gallery.value('svc.liveness', imageParams('Ada'), { debug: true })
  assert.equal(debug.providers.liveness, 'people@1')
  assert.equal(debug.scores.liveness, 0.99)
  assert.equal(debug.scores['people@1'], 0.99)
  assert.ok('liveness' in debug.timingsMs)
  const params = { ...imageParams('Ada'), requireLiveness: true }
  const searched = await gallery.value('svc.identify', params, { debug: true })
  assert.equal(searched.debug.scores.liveness, 0.99)
})

test('svc.liveness costs two units for a live face and for a spoof', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const balance = () => budget(client)
  const first = await balance()
  await client.value('svc.liveness', imageParams('Ada'))
  assert.equal(first - (await balance()), 2000n)
  await client.value('svc.liveness', imageParams({ name: 'Ada', liveness: { score: 0 } }))
  assert.equal(first - (await balance()), 4000n)
})

test('If liveness is required, a spoof is rejected, not billed, not stored, and replayed as rejected', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { subjectId } = await client.value('svc.enroll', {
    ...imageParams('Ada'),
    requireLiveness: true,
  })
  const spoof = { ...imageParams({ name: 'Ada', liveness: { score: 0.1 } }), requireLiveness: true }
  const calls = [
    ['svc.enroll', spoof],
    ['svc.enroll', { ...spoof, subjectId }],
    ['svc.updateSubject', { ...spoof, subjectId }],
    ['svc.verify', { ...spoof, subjectId }],
    ['svc.identify', spoof],
  ] as const
  for (const [action, params] of calls) {
    const more = { requestId: randomUUID() }
    const before = await budget(client)
    const { body } = await client.call(action, params, more)
    assert.equal(body.ok, false, action)
    assert.equal(body.errors[0].code, 'LIVENESS_FAILED', action)
    assert.match(body.errors[0].message, /spoof \(score 0\.10, live from 0\.50\)/u)
    const again = await client.call(action, params, more)
    assert.deepEqual(again.body, { ...body, meta: { idempotencyReplay: true } }, action)
    assert.equal(await budget(client), before, action)
  }
  const { body } = await client.rest('GET', '/v1/subjects')
  assert.equal(body.items.length, 1)
  assert.equal(body.items[0].embeddingCount, 1)
})

test('If liveness is required, an uncertain face is rejected with the reasons', async () => {
  const turned = { ...imageParams({ name: 'Ada', yaw: 50, side: 50 }), requireLiveness: true }
  const { body } = await gallery.call('svc.enroll', turned)
  assert.equal(body.errors[0].code, 'LIVENESS_FAILED')
  assert.match(body.errors[0].message, /uncertain.*: FACE_TOO_SMALL, EXTREME_POSE$/u)
})

test('The threshold of a request also applies to required liveness', async () => {
  const params = (livenessThreshold: number) => ({
    ...imageParams({ name: 'Mia', liveness: { score: 0.6 } }),
    requireLiveness: true,
    livenessThreshold,
  })
  assert.equal(await gallery.code('svc.identify', params(0.7)), 'LIVENESS_FAILED')
  assert.equal((await gallery.value('svc.identify', params(0.6))).matched, false)
})

test('Of two images only the probe must be live', async () => {
  const [live] = (imageParams('Ada') as { images: object[] }).images
  const [spoof] = (imageParams({ name: 'Ada', liveness: { score: 0 } }) as { images: object[] })
    .images
  const compare = (...list: (object | undefined)[]) => ({ images: list, requireLiveness: true })
  assert.equal((await gallery.value('svc.verify', compare(live, spoof))).matched, true)
  assert.equal(await gallery.code('svc.verify', compare(spoof, live)), 'LIVENESS_FAILED')
})

test('svc.identify ignores further faces that are not live', async () => {
  const both = imageParams({ name: 'Ada' }, { name: 'Bea', side: 150, liveness: { score: 0 } })
  const params = { ...both, maxFaces: 2 }
  assert.equal((await gallery.value('svc.identify', params)).faces.length, 2)
  const live = await gallery.value('svc.identify', { ...params, requireLiveness: true })
  assert.equal(live.faces.length, 1)
})
