import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, mock, test } from 'node:test'
import { errorTable } from '../../../src/lib/errors.ts'
import { findCalls } from '../../support/find-calls.ts'
import { assertOk, startConsole, type TestConsole } from '../../support/console/test-console.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'

let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole()
})
after(() => testConsole[Symbol.asyncDispose]())

const get = async (path: string) => assertOk(await testConsole.owner.get(path)).body

/** The details of the call with a request id. */
async function detailsOf(requestId: string) {
  const { items } = await get(`/log?requestId=${requestId}`)
  assert.equal(items.length, 1, requestId)
  return { ...(await get(`/log/${items[0].callId}`)), listed: items[0] }
}

async function failedCall(body: object) {
  const requestId = randomUUID()
  await testConsole.gallery.post({ requestId, ...body })
  return detailsOf(requestId)
}

test('The log contains message, path and remedy of a failed call, and its options', async () => {
  const params = { ...imageParams(), facePolicy: 'largest', minQuality: 5, externalId: 'canary-1' }
  const { problems, parameters, isGeneral, listed, code } = await failedCall({
    action: 'svc.enroll',
    params,
  })
  assert.equal(code, 'NO_FACE_FOUND')
  assert.equal(isGeneral, false)
  assert.equal(problems[0].path, 'params.images[0]')
  assert.equal(problems[0].imageIndex, 0)
  assert.equal(problems[0].hint, errorTable.NO_FACE_FOUND.remedy)
  assert.equal(listed.message, problems[0].message)
  assert.deepEqual(parameters, {
    images: '1 item',
    externalId: 'set',
    facePolicy: 'largest',
    minQuality: 5,
  })
})

test('Every invalid parameter is one problem with its path; a wrong value is shown if it is an option', async () => {
  const params = { ...imageParams('Ada'), maxFaces: 500, threshold: 'auto', minQuality: 'high' }
  const { problems, parameters } = await failedCall({ action: 'svc.identify', params })
  assert.deepEqual(
    problems.map(({ path }: { path: string }) => path),
    ['params.maxFaces', 'params.minQuality'],
  )
  assert.match(problems[0].message, /whole number from 1 to 20; received 500/u)
  assert.equal(problems[0].hint, errorTable.INVALID_REQUEST.remedy)
  assert.equal(parameters.maxFaces, 500)
  assert.equal(parameters.threshold, 'auto')
  assert.equal(parameters.minQuality, 'set')
  const features = Array.from({ length: 500 }, () => 'pose')
  const repeated = { ...imageParams('Ada'), features: [...features, 'canary'] }
  const listed = await failedCall({ action: 'svc.analyze', params: repeated })
  assert.deepEqual(listed.parameters.features, ['pose'])
  const text = { ...imageParams('Ada'), displayName: 19_840_229 }
  const wrong = await failedCall({ action: 'svc.enroll', params: text })
  assert.match(wrong.problems[0].message, /^params\.displayName: must be text .*; received …$/u)
})

test('A call with a failed image is a success that states why the image failed', async () => {
  const [first] = (imageParams('Bea') as { images: object[] }).images
  const [empty] = (imageParams() as { images: object[] }).images
  await testConsole.gallery.value('svc.enroll', imageParams('Bea'))
  const call = await failedCall({ action: 'svc.identify', params: { images: [first, empty] } })
  assert.equal(call.ok, true)
  assert.equal(call.problems[0].code, 'NO_FACE_FOUND')
  assert.equal(call.problems[0].imageIndex, 1)
  const succeeded = await failedCall({ action: 'svc.detect', params: imageParams('Bea') })
  assert.deepEqual([succeeded.problems, succeeded.listed.message], [[], null])
  assert.equal(succeeded.parameters, undefined)
})

test('Failures before an action runs have their message: malformed JSON, permission, route', async () => {
  const { gallery, projectId, owner } = testConsole
  const latest = async () => {
    const { items } = await get('/log?limit=1')
    return get(`/log/${items[0].callId}`)
  }
  await gallery.post('{"action": "svc.detect",\n "params": {"canary-json": }')
  assert.match((await latest()).problems[0].message, /line 2, column/u)
  await gallery.post('{"params": {"attributes": {"canary key": 1, "canary key": 2}}}')
  const [{ message }] = (await latest()).problems
  assert.equal(message, 'The key … is duplicated; send it once.')
  const settings = { projectId, name: 'narrow', permissions: ['svc.detect'] }
  const { key } = assertOk(await owner.send('POST', '/keys', settings)).body
  await gallery.withKey(key).call('svc.enroll', imageParams('Cy'))
  assert.match((await latest()).problems[0].message, /svc\.enroll/u)
  const enroller = assertOk(
    await owner.send('POST', '/keys', { ...settings, permissions: ['svc.enroll'] }),
  ).body
  const forced = { ...imageParams('Cy'), displayName: 'canary-name', force: true }
  await gallery.withKey(enroller.key).call('svc.enroll', forced)
  const forbidden = await latest()
  assert.deepEqual([forbidden.problems[0].path, forbidden.code], ['params.force', 'FORBIDDEN'])
  assert.ok(!JSON.stringify(forbidden).includes('canary'))
  await gallery.rest('GET', '/v1/subjects?limit=00491511234567')
  assert.doesNotMatch((await latest()).problems[0].message, /491511234567/u)
  await gallery.rest('GET', '/v1/subjects?limit=0&canary-query=1')
  const { problems } = await latest()
  assert.match(problems[0].message, /limit/u)
  assert.ok(!JSON.stringify(problems).includes('canary'))
  await gallery.rest('DELETE', '/v1/groups/canary-group')
  assert.equal((await latest()).problems[0].code, 'GROUP_NOT_FOUND')
})

test('The log redacts values of a request, not the words of a message or a remedy', async () => {
  const { gallery } = testConsole
  const words = { displayName: 'face', groups: ['image'], attributes: { picture: 'rows' } }
  const sent: readonly (readonly [string, object])[] = [
    ['svc.enroll', { ...imageParams(), ...words, externalId: 'retake' }],
    ['svc.updateSubject', { subjectId: randomUUID(), displayName: 'subject', addGroups: ['id'] }],
  ]
  for (const [action, params] of sent) {
    const requestId = randomUUID()
    const { body } = await gallery.post({ requestId, action, params })
    const [{ message, hint }] = body.errors
    const { problems } = await detailsOf(requestId)
    assert.deepEqual([problems[0].message, problems[0].hint], [message, hint], action)
  }
  const { subjectId } = await gallery.value('svc.enroll', imageParams('Flo'))
  await gallery.value('svc.enroll', { ...imageParams('Gus'), externalId: 'append' })
  const taken = { subjectId, externalId: 'append', displayName: 'externalId null' }
  const conflict = await failedCall({ action: 'svc.updateSubject', params: taken })
  assert.match(conflict.problems[0].hint, /with externalId null\.$/u)
  const group = { ...imageParams('Flo'), groups: ['canary-group', 'subject'] }
  const { problems } = await failedCall({ action: 'svc.identify', params: group })
  assert.equal(
    problems[0].message,
    'params.groups: no subject of the gallery belongs to …, subject',
  )
})

test('Thousands of texts in a message are redacted in one pass, without a pattern for each', async () => {
  const analyze = (features: readonly string[]) => ({
    action: 'svc.analyze',
    params: { ...imageParams('Hal'), features },
  })
  const { body } = await testConsole.gallery.post(analyze(['canary']))
  const message: string = body.errors[0].message
  const parts = Array.from(message, (_, start) =>
    Array.from({ length: 30 }, (_, length) => message.slice(start, start + length + 1)),
  ).flat()
  // Fewer than the permitted escaped quotes.
  const features = [...new Set(parts)].filter((part) => part.split('"').length <= 3)
  assert.ok(features.length > 2000, String(features.length))
  const replaceAll = mock.method(String.prototype, 'replaceAll')
  const { problems } = await failedCall(analyze(features))
  const count = replaceAll.mock.callCount()
  replaceAll.mock.restore()
  assert.ok(count < features.length, String(count))
  assert.equal(problems.length, 10)
  for (const problem of problems) assert.match(problem.message, /^(?:…|\[\d+\])+$/u)
})

test('A message with too many places for the texts of a request is replaced as a whole', async () => {
  const nested = (depth: number): object =>
    depth === 0 ? { '!': '\u0000' } : { ['.'.repeat(64)]: nested(depth - 1) }
  const enroll = (count: number, lengthMin = 1) => {
    const groups = Array.from({ length: count }, (_, index) => '!'.repeat(index + lengthMin))
    return { action: 'svc.enroll', params: { images: [], attributes: nested(12), groups } }
  }
  const messagesOf = async (count: number, lengthMin?: number) => {
    const { problems } = await failedCall(enroll(count, lengthMin))
    return problems.flatMap(({ path, message }: { path?: string; message: string }) =>
      path?.startsWith('params.attributes') ? [message] : [],
    )
  }
  const [long] = await messagesOf(1)
  assert.match(long, /must not contain NUL/u)
  for (const [count, lengthMin] of [
    [900, 1],
    [17, 430],
  ] as const)
    for (const message of await messagesOf(count, lengthMin)) assert.equal(message, '…')
})

test('A replay of a failed call has the reasons of the first call', async () => {
  const requestId = randomUUID()
  const body = { requestId, action: 'svc.enroll', params: imageParams() }
  for (let count = 0; count < 2; count++) await testConsole.gallery.post(body)
  const { items } = await get(`/log?requestId=${requestId}`)
  assert.deepEqual(
    items.map(({ isReplay }: { isReplay: boolean }) => isReplay),
    [true, false],
  )
  const [replay, first] = await Promise.all(
    items.map(({ callId }: { callId: number }) => get(`/log/${callId}`)),
  )
  assert.deepEqual(replay.problems, first.problems)
  assert.equal(replay.isGeneral, false)
})

test('A row without stored reasons explains its code', async () => {
  const { gallery, projectId } = testConsole
  const [known] = await findCalls(gallery.database.store.db, { projectId, limit: 1 })
  assert.ok(known)
  for (const code of ['LOW_QUALITY', 'EXPIRED', 'HTTP_503', 'HTTP_418']) {
    const { callId: _callId, detail: _detail, ...row } = known
    const requestId = randomUUID()
    const old = { ...row, requestId, code, costMicros: 0n, isReplay: 0, transferId: null } as const
    await gallery.database.store.write((tx) => tx.logCall(old))
    const { problems, isGeneral, listed } = await detailsOf(requestId)
    assert.equal(isGeneral, true)
    assert.ok(problems[0].message.length > 10 && problems[0].hint.length > 10, code)
    assert.equal(listed.message, problems[0].message)
  }
})

test('The log stores no picture, name, id or other text of a caller', async () => {
  const { gallery } = testConsole
  const canary = 'canary-8153'
  const images = (imageParams('Dee') as { images: { bytes: string }[] }).images
  const { subjectId } = await gallery.value('svc.enroll', {
    ...imageParams('Dee'),
    externalId: `${canary}-external`,
  })
  const personal = {
    displayName: `${canary} Dee`,
    groups: [`${canary}-group`],
    attributes: { [`${canary}-note`]: canary },
  }
  const calls: readonly (readonly [string, object])[] = [
    ['svc.enroll', { ...imageParams(), ...personal }],
    ['svc.enroll', { ...imageParams('Dee'), ...personal, duplicateCheck: 'reject' }],
    ['svc.enroll', { images, subjectId: randomUUID(), ...personal }],
    ['svc.enroll', { images, [`${canary}Field`]: 1, displayName: `${canary}\n` }],
    ['svc.enroll', { images, attributes: { [`${canary}\0`]: 1 } }],
    ['svc.identify', { images, groups: [`${canary}-group`] }],
    ['svc.identify', { images, threshold: canary, facePolicy: canary }],
    ['svc.verify', { images, externalId: `${canary}-unknown` }],
    ['svc.updateSubject', { subjectId, addGroups: [canary], removeGroups: [canary] }],
    ['svc.updateSubject', { subjectId, externalId: 8153 }],
    ['svc.deleteSubject', { externalId: `${canary}-unknown` }],
    ['svc.liveness', { images, livenessSessionId: canary }],
    [`svc.${canary.replaceAll('-', '')}`, {}],
  ]
  for (const [action, params] of calls) assert.notEqual(await gallery.code(action, params), 'OK')
  await gallery.post({ action: 'svc.detect', params: {}, [canary]: { [canary]: canary } })
  const rows = await findCalls(gallery.database.store.db, { limit: 1000 })
  const details = rows.flatMap(({ detail }) => detail ?? [])
  assert.ok(details.length >= calls.length)
  const bytes = images[0]?.bytes ?? ''
  for (const detail of details)
    for (const secret of [canary, 'canary', subjectId, bytes.slice(0, 20), '8153'])
      assert.ok(!detail.includes(secret), `${secret} in ${detail}`)
})

test('A filter by the first characters of a request id finds its calls', async () => {
  const requestId = `ABCDEF01${randomUUID().slice(8)}`
  await testConsole.gallery.post({ requestId, action: 'svc.detect', params: imageParams('Eve') })
  const found = async (prefix: string) =>
    (await get(`/log?requestId=${prefix}`)).items.map(
      (call: { requestId: string }) => call.requestId,
    )
  assert.deepEqual(await found('ABCDEF'), [requestId])
  assert.deepEqual(await found('abcdef01-'), [requestId])
  assert.deepEqual(await found('abcdef02'), [])
  for (const wrong of ['abc', 'abcdefgh', `${requestId}0`, 'ab%25_'])
    assert.equal((await testConsole.owner.get(`/log?requestId=${wrong}`)).status, 422, wrong)
})

test('A prefix that matches more than 1000 calls is rejected with the remedy', async () => {
  const { gallery, projectId, owner } = testConsole
  const [known] = await findCalls(gallery.database.store.db, { projectId, code: 'OK', limit: 1 })
  assert.ok(known)
  const { callId: _callId, detail: _detail, ...row } = known
  const add = (from: number, to: number) =>
    gallery.database.store.write(async (tx) => {
      for (let index = from; index < to; index++) {
        const requestId = `77777777-0000-4000-8000-${String(index).padStart(12, '0')}`
        await tx.logCall({ ...row, requestId, costMicros: 0n, transferId: null })
      }
    })
  await add(0, 1000)
  assert.equal((await get('/log?requestId=7777')).items.length, 50)
  await add(1000, 1001)
  const rejected = await owner.get('/log?requestId=7777')
  assert.equal(rejected.status, 422)
  assert.match(rejected.body.detail, /Enter more/u)
  assert.equal((await get('/log?requestId=77777777-0000-4000-8000-000000000999')).items.length, 1)
})
