import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { findCalls } from '../support/find-calls.ts'
import { roundSimilarity } from '../../src/gallery/calibration/similarity.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

const enroll = (name: string, fields: object = {}) =>
  gallery.value('svc.enroll', { ...imageParams(name), ...fields })

const lastCost = async () =>
  (await findCalls(gallery.database.store.db, { limit: 1 }))[0]?.costMicros

const refusal = async (action: string, params: object) => {
  const { body } = await gallery.call(action, params)
  assert.equal(body.ok, false, JSON.stringify(body))
  return body.errors[0]
}

test('identify refuses groups none of which exists, and warns about those that do not', async () => {
  await enroll('gustav', { groups: ['staff'] })
  const identify = (groups: readonly string[]) => ({ ...imageParams('gustav'), groups })
  const error = await refusal('svc.identify', identify(['stuff', 'guests']))
  assert.deepEqual([error.code, error.path], ['GROUP_NOT_FOUND', 'params.groups'])
  assert.match(error.message, /stuff, guests/u)
  const some = await gallery.value('svc.identify', identify(['staff', 'stuff']))
  assert.equal(some.matched, true)
  assert.equal(some.warnings.length, 1)
  assert.match(some.warnings[0], /stuff/u)
  const known = await gallery.value('svc.identify', identify(['staff']))
  assert.equal('warnings' in known, false)
})

test('A subject can be updated by its externalId, and deleted by its subjectId only', async () => {
  const { subjectId } = await enroll('hanna', { externalId: 'badge 7' })
  const update = { externalId: 'badge 7', displayName: 'Hanna' }
  const updated = await gallery.value('svc.updateSubject', update)
  assert.deepEqual([updated.subjectId, updated.externalId], [subjectId, 'badge 7'])
  const renamed = { subjectId, externalId: 'badge 8' }
  assert.equal((await gallery.value('svc.updateSubject', renamed)).externalId, 'badge 8')
  for (const ids of [{ externalId: 'badge 8' }, { subjectId, externalId: 'badge 8' }]) {
    const { body } = await gallery.call('svc.deleteSubject', ids)
    const error = body.errors.find(({ path }: { path: string }) => path === 'params.externalId')
    assert.equal(error.code, 'INVALID_REQUEST')
    assert.equal(error.hint, 'Resolve it to the subjectId with GET /v1/subjects?externalId= first.')
  }
  for (const action of ['svc.deleteSubject', 'svc.updateSubject'])
    assert.equal((await refusal(action, {})).code, 'INVALID_REQUEST')
  const record = await gallery.value('svc.deleteSubject', { subjectId })
  assert.equal(record.subjectId, subjectId)
})

test('updateSubject returns the face it added, and refuses a group that is added and removed', async () => {
  const { subjectId, faceId } = await enroll('ida')
  const other = imageParams({ name: 'ida', take: 2, deviation: 0.5 })
  const added = await gallery.value('svc.updateSubject', { subjectId, ...other })
  assert.match(added.faceId, /^[0-9a-f-]{36}$/u)
  assert.notEqual(added.faceId, faceId)
  const { body } = await gallery.rest('GET', `/v1/subjects/${subjectId}?include=faces`)
  const stored = body.faces.map((face: { faceId: string }) => face.faceId)
  assert.deepEqual(new Set(stored), new Set([faceId, added.faceId]))
  const both = { subjectId, addGroups: ['a', 'b'], removeGroups: ['b'] }
  const error = await refusal('svc.updateSubject', both)
  assert.deepEqual([error.code, error.path], ['INVALID_REQUEST', 'params.removeGroups'])
})

test('updateSubject warns about what it did not use or change', async () => {
  const { subjectId, faceId } = await enroll('jan', { groups: ['staff'] })
  const warningsOf = async (params: object) =>
    (await gallery.value('svc.updateSubject', { subjectId, ...params })).warnings
  assert.deepEqual(await warningsOf({ removeGroups: ['guests', 'staff', 'visitors'] }), [
    'removeGroups: the subject is not in guests, visitors',
  ])
  const repeated = await gallery.value('svc.updateSubject', { subjectId, ...imageParams('jan') })
  assert.equal(repeated.faceId, faceId)
  assert.match(repeated.warnings[0], /already has the template of this picture/u)
  assert.equal(await lastCost(), 0n)
  const { images } = imageParams({ name: 'jan', take: 2, deviation: 0.5 }) as { images: object[] }
  const [warning] = await warningsOf({ images: [...images, ...images] })
  assert.match(warning, /^images\[1\] and later were not used/u)
  assert.equal(await lastCost(), 2000n)
  assert.equal(await warningsOf({ addGroups: ['staff'] }), undefined)
  const empty = await refusal('svc.updateSubject', { subjectId, images: [] })
  assert.deepEqual([empty.code, empty.path], ['INVALID_REQUEST', 'params.images'])
})

test('updatedAtUtc changes only with the subject', async () => {
  const fields = {
    externalId: 'kai-1',
    displayName: 'Kai',
    groups: ['staff'],
    attributes: { floor: 3, team: { name: 'a' } },
    expiresAtUtc: '2999-01-01T00:00:00Z',
  }
  const { subjectId, faceId } = await enroll('kai', fields)
  const { updatedAtUtc } = await gallery.value('svc.updateSubject', { subjectId })
  const picture = imageParams('kai')
  const same: readonly (readonly [string, object])[] = [
    ['svc.updateSubject', { displayName: 'Kai', externalId: 'kai-1' }],
    ['svc.updateSubject', { attributes: { floor: 3, team: { name: 'a' }, none: null } }],
    ['svc.updateSubject', { addGroups: ['staff'], removeGroups: ['guests'] }],
    ['svc.updateSubject', { expiresAtUtc: '2999-01-01T00:00:00.000Z', removeFaceIds: [] }],
    ['svc.updateSubject', picture],
    ['svc.enroll', picture],
  ]
  const updateTime = async () =>
    (await gallery.rest('GET', `/v1/subjects/${subjectId}`)).body.updatedAtUtc
  for (const [action, params] of same) {
    await gallery.value(action, { subjectId, ...params })
    assert.equal(await updateTime(), updatedAtUtc, JSON.stringify(params).slice(0, 80))
  }
  const other = imageParams({ name: 'kai', take: 2, deviation: 0.5 })
  const changes: readonly (readonly [string, object])[] = [
    ['svc.updateSubject', { displayName: null }],
    ['svc.updateSubject', { attributes: { floor: null } }],
    ['svc.updateSubject', { removeGroups: ['staff'] }],
    ['svc.updateSubject', { expiresAtUtc: null }],
    ['svc.updateSubject', other],
    ['svc.updateSubject', { removeFaceIds: [faceId] }],
    ['svc.enroll', picture],
  ]
  let before = updatedAtUtc
  for (const [action, params] of changes) {
    while (new Date().toISOString() <= before) await setImmediate()
    const value = await gallery.value(action, { subjectId, ...params })
    const now = await updateTime()
    assert.ok(now > before, JSON.stringify(params).slice(0, 80))
    assert.equal(value.updatedAtUtc ?? value.enrolledAtUtc, now)
    before = now
  }
})

test('A threshold of 0 is reported, and auto is accepted by every action that compares', async () => {
  const { subjectId } = await enroll('lou')
  const [image] = (imageParams('lou') as { images: object[] }).images
  const [other] = (imageParams('max') as { images: object[] }).images
  const calls: readonly (readonly [string, object])[] = [
    ['svc.identify', { images: [image] }],
    ['svc.identify', { subjectId }],
    ['svc.verify', { images: [image], subjectId }],
    ['svc.verify', { images: [image, other] }],
  ]
  for (const [action, params] of calls) {
    const zero = await gallery.value(action, { ...params, threshold: 0 })
    assert.deepEqual(zero.warnings, [
      'threshold 0 matches every face; send 0.80 or more, or "auto"',
    ])
    const auto = await gallery.value(action, { ...params, threshold: 'auto' })
    assert.deepEqual([auto.threshold, auto.warnings], [0.8, undefined])
  }
  const live = await gallery.value('svc.liveness', { images: [image], threshold: 0 })
  assert.deepEqual(live.warnings, ['threshold 0 classifies every face as live'])
})

test('Ids and names are stored in Unicode NFC, not trimmed, without control characters', async () => {
  const [nfc, nfd] = ['Zo\u00eb ', 'Zoe\u0308 ']
  const { subjectId, externalId } = await enroll('zoe', { externalId: nfd, displayName: nfd })
  assert.equal(externalId, nfc)
  for (const spelling of [nfc, nfd]) {
    const query = new URLSearchParams({ externalId: spelling }).toString()
    const { body } = await gallery.rest('GET', `/v1/subjects?${query}`)
    assert.deepEqual(
      body.items.map((item: { subjectId: string; displayName: string }) => [
        item.subjectId,
        item.displayName,
      ]),
      [[subjectId, nfc]],
    )
    const again = await enroll('zoe', { externalId: spelling })
    assert.deepEqual([again.subjectId, again.created], [subjectId, false])
  }
  for (const field of ['externalId', 'displayName'])
    for (const text of ['a\nb', 'a\tb', 'a\u007fb', 'a\u0085b']) {
      const error = await refusal('svc.enroll', { ...imageParams('zoe'), [field]: text })
      assert.deepEqual([error.code, error.path], ['INVALID_REQUEST', `params.${field}`])
    }
})

test('A similarity has four decimals, is never rounded up, and agrees with matched', async () => {
  assert.equal(roundSimilarity(0.99999), 0.9999)
  assert.equal(roundSimilarity(0.79999), 0.7999)
  assert.equal(roundSimilarity(0.57), 0.57)
  assert.equal(roundSimilarity(1), 1)
  for (let step = 0; step <= 1e4; step++) assert.equal(roundSimilarity(step / 1e4), step / 1e4)
  const [image] = (imageParams('karl') as { images: object[] }).images
  for (const deviation of [0.01, 0.5, 1, 2, 3]) {
    const [other] = (imageParams({ name: 'karl', take: 9, deviation }) as { images: object[] })
      .images
    const compared = await gallery.value('svc.verify', { images: [image, other] })
    const { similarity } = compared
    assert.ok(similarity < 1, String(similarity))
    assert.equal(roundSimilarity(similarity), similarity)
    const atThreshold = { images: [image, other], threshold: similarity }
    assert.equal((await gallery.value('svc.verify', atThreshold)).matched, true)
  }
  const identical = await gallery.value('svc.verify', { images: [image, image] })
  assert.equal(identical.similarity, 1)
})

test('Scores of debug have four decimals and lie in the documented range, times have three', async () => {
  await using dense = await startGallery({ models: { active: 'cohort@1' } })
  const debug = { debug: true }
  const picture = imageParams({ name: 'pia', deviation: 0.3 })
  const { subjectId } = await dense.value('svc.enroll', picture)
  const images = [picture, imageParams('rob')].flatMap((params) => (params as SentImages).images)
  const compared = await dense.value('svc.verify', { images }, debug)
  const same = await dense.value('svc.verify', { ...picture, subjectId }, debug)
  const found = await dense.value('svc.identify', picture, debug)
  const stored = await dense.value('svc.identify', { subjectId }, debug)
  assert.equal(same.debug.scores.recognizer, found.debug.scores.recognizer)
  assert.ok(same.debug.scores.recognizer > 0.5, 'the density raises the score of one picture')
  for (const { debug: shown } of [compared, same, found, stored]) {
    const { scores, timingsMs, providers } = shown
    assert.equal(providers.recognizer, 'cohort@1')
    if ('recognizer' in scores) assert.ok(Math.abs(scores.recognizer) <= 4)
    for (const [values, decimals] of [
      [scores, 4],
      [timingsMs, 3],
    ] as const)
      for (const value of Object.values(values))
        assert.equal(value, Number(Number(value).toFixed(decimals)))
  }
})

type SentImages = { readonly images: object[] }

test('svc.identify returns 1 for an identical template only, as svc.verify does', async () => {
  // The scores of identical templates of this model differ, because their densities do.
  await using dense = await startGallery({ models: { active: 'cohort@1' } })
  for (const name of ['lars', 'mia', 'nils', 'olga']) {
    const picture = { name, take: 1, deviation: 0.5 }
    const { subjectId } = await dense.value('svc.enroll', imageParams(picture))
    for (const [deviation, isIdentical] of [
      [0.5, true],
      [0.500001, false],
      [0.6, false],
    ] as const) {
      const params = imageParams({ ...picture, deviation })
      const { bestMatch } = await dense.value('svc.identify', params)
      const { similarity } = await dense.value('svc.verify', { ...params, subjectId })
      assert.deepEqual([bestMatch.subjectId, bestMatch.similarity], [subjectId, similarity])
      assert.equal(similarity === 1, isIdentical, `${name} ${deviation}: ${similarity}`)
    }
  }
})

test('debug works for deleteSubject and for updateSubject, with and without an image', async () => {
  const { subjectId } = await enroll('lena')
  const debug = { debug: true }
  const plain = await gallery.value('svc.updateSubject', { subjectId, displayName: 'L' }, debug)
  assert.deepEqual([plain.debug.providers, plain.debug.scores], [{}, {}])
  assert.deepEqual(Object.keys(plain.debug.timingsMs), ['database'])
  const image = imageParams({ name: 'lena', take: 2, deviation: 0.5 })
  const withImage = await gallery.value('svc.updateSubject', { subjectId, ...image }, debug)
  assert.deepEqual(Object.keys(withImage.debug.scores).toSorted(), ['detector', 'recognizer'])
  const next = imageParams({ name: 'lena', take: 3, deviation: 0.5 })
  const enrolled = await gallery.value('svc.enroll', { subjectId, ...next }, debug)
  for (const part of ['providers', 'scores', 'timingsMs'])
    assert.deepEqual(Object.keys(enrolled.debug[part]), Object.keys(withImage.debug[part]), part)
  const record = await gallery.value('svc.deleteSubject', { subjectId }, debug)
  assert.deepEqual(Object.keys(record.debug), ['providers', 'scores', 'timingsMs'])
})

test('Attributes have at most 4,096 bytes, a time at most 40 characters', async () => {
  const send = (params: object) => gallery.call('svc.enroll', { ...imageParams('lena'), ...params })
  const attributes = (text: string) => ({ attributes: { a: text } })
  const charCount = 4096 - '{"a":""}'.length
  const time = '2030-01-31T00:00:00.'.padEnd(39, '0')
  for (const params of [
    attributes('a'.repeat(charCount)),
    attributes('é'.repeat(charCount / 2)),
    { expiresAtUtc: `${time}Z` },
  ])
    assert.equal((await send(params)).body.ok, true)
  for (const params of [
    attributes('a'.repeat(charCount + 1)),
    attributes(`é${'a'.repeat(charCount - 1)}`),
    { expiresAtUtc: `${time}0Z` },
  ])
    assert.equal((await send(params)).body.errors[0].code, 'INVALID_REQUEST')
})
