import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  subjectChangesMax,
  subjectDeletionsMax,
  subjectQueryMax,
} from '../../src/console/pages/gallery/bulk-changes.ts'
import { fakeImage, takeOf } from '../support/gallery/fake-vision.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { createTestSteadyClock } from '../support/gate/test-steady-clock.ts'
import { assertOk, startConsole, type TestConsole } from '../support/console/test-console.ts'

let testConsole: TestConsole
let path: string
const steadyClock = createTestSteadyClock()
before(async () => {
  testConsole = await startConsole({
    environment: { SUBJECT_TEMPLATES_MAX: '3' },
    wrapStore: steadyClock.wrapStore,
  })
  path = `/projects/${testConsole.projectId}/subjects`
})
after(() => testConsole[Symbol.asyncDispose]())

const send = (method: string, target: string, body?: unknown) =>
  testConsole.owner.send(method, target, body)
const get = (target: string) => testConsole.owner.get(target)

async function enroll(name: string, params: object = {}): Promise<string> {
  const value = await testConsole.gallery.value('svc.enroll', { ...imageParams(name), ...params })
  return value.subjectId
}

const subjectOf = async (subjectId: string) => assertOk(await get(`${path}/${subjectId}`)).body

async function lastAuditEntry() {
  return assertOk(await get('/audit?limit=1')).body.items[0]
}

/** Turns the storage of crops on, or off after the loss of these crops is confirmed. */
async function setCropStorage(storeCrops: boolean, crops = 0) {
  const body = { switches: { storeCrops }, confirmedLosses: { crops } }
  assertOk(await send('PATCH', `/projects/${testConsole.projectId}`, body))
}

test('A stored crop is shown to users of its account, and only with the id of its subject', async () => {
  const { owner, gallery, projectId } = testConsole
  const plain = await enroll('Pia')
  await setCropStorage(true)
  const subjectId = await enroll('Cora')
  const other = await enroll('Carl')
  const list = `/projects/${projectId}/cropped-faces?subjectIds=`
  const ids = [plain, subjectId, other].join(',')
  const { items } = assertOk(await get(list + ids)).body
  assert.deepEqual(
    items.map((item: { subjectId: string }) => item.subjectId),
    [subjectId, other],
  )
  const [{ faceId }] = items
  const crop = assertOk(await get(`${path}/${subjectId}/faces/${faceId}/crop`))
  assert.equal(crop.headers.get('content-type'), 'image/jpeg')
  assert.equal(crop.headers.get('cache-control'), 'private, no-store')
  assert.equal(crop.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(crop.headers.get('cross-origin-resource-policy'), 'same-origin')
  assert.equal(crop.text, fakeImage('Cora').bytes.toString())

  for (const target of [
    `${path}/${other}/faces/${faceId}/crop`,
    `${path}/${plain}/faces/${(await subjectOf(plain)).faces[0].faceId}/crop`,
    `${path}/${subjectId}/faces/none/crop`,
    `/projects/${randomUUID()}/subjects/${subjectId}/faces/${faceId}/crop`,
  ])
    assert.equal((await get(target)).status, 404, target)
  // A project of another account, and another project of this account.
  const foreign = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const second = assertOk(
    await send('POST', '/projects', { name: 'second', galleryMode: 'isolated' }),
  ).body
  for (const id of [foreign.project.projectId, second.projectId]) {
    const target = `/projects/${id}/subjects/${subjectId}/faces/${faceId}/crop`
    assert.equal((await get(target)).status, 404)
    const listed = await get(`/projects/${id}/cropped-faces?subjectIds=${ids}`)
    assert.ok(listed.status === 404 || listed.body.items.length === 0)
  }
  const anonymous = await testConsole.newClient().get(`${path}/${subjectId}/faces/${faceId}/crop`)
  assert.equal(anonymous.status, 401)

  const { db } = gallery.database.store
  await db
    .updateTable('crops')
    .set({ ciphertext: Buffer.alloc(64) })
    .where('faceId', '=', faceId)
    .execute()
  assert.equal((await get(`${path}/${subjectId}/faces/${faceId}/crop`)).status, 404, 'tampered')
  const many = Array.from({ length: subjectQueryMax }, () => randomUUID())
  assertOk(await get(list + many.join(',')))
  assert.equal((await get(list + [...many, subjectId].join(','))).status, 422)
  assert.equal((await owner.get(`${list}nonsense`)).status, 422)
  await setCropStorage(false, 2)
  assert.deepEqual(assertOk(await get(list + ids)).body.items, [])
})

test('Groups of many subjects change in one request; one that cannot change does not stop the others', async () => {
  const full = await enroll('Gil')
  const [first, second] = [await enroll('Gia'), await enroll('Guy', { groups: ['old'] })]
  const manyGroups = Array.from({ length: 20 }, (_, index) => `g-${index}`)
  await testConsole.gallery.value('svc.updateSubject', { subjectId: full, addGroups: manyGroups })
  const unknown = randomUUID()
  const subjectIds = [first, full, unknown, second.toUpperCase(), first]
  const body = { subjectIds, addGroups: ['new'], removeGroups: ['old'] }
  const { items } = assertOk(await send('POST', `${path}/groups`, body)).body
  assert.deepEqual(
    items.map((item: { subjectId: string; result: string }) => [item.subjectId, item.result]),
    [
      [first, 'changed'],
      [full, 'refused'],
      [unknown, 'unknown'],
      [second, 'changed'],
    ],
  )
  assert.match(items[1].message, /at most 20 groups/u)
  assert.deepEqual((await subjectOf(full)).groups, manyGroups.toSorted(), 'rolled back alone')
  assert.deepEqual((await subjectOf(second)).groups, ['new'])
  const entry = await lastAuditEntry()
  assert.deepEqual([entry.auditAction, entry.detail.subjects], ['subject.changeGroups', 2])
  assert.deepEqual(entry.detail.subjectIds, [first, second])
  // The search in memory filters by the new groups.
  const params = { ...imageParams('Guy'), groups: ['new'] }
  assert.equal((await testConsole.gallery.value('svc.identify', params)).matched, true)

  const ids = Array.from({ length: subjectChangesMax }, () => randomUUID())
  assertOk(await send('POST', `${path}/groups`, { subjectIds: ids, addGroups: ['new'] }))
  const tooMany = { subjectIds: [...ids, first], addGroups: ['new'] }
  assert.equal((await send('POST', `${path}/groups`, tooMany)).status, 422)
  const both = { subjectIds: [first], addGroups: ['new'], removeGroups: ['new'] }
  assert.equal((await send('POST', `${path}/groups`, both)).status, 422)
})

test('Deleting several subjects requires their number, and writes one record for each', async () => {
  const ids = [await enroll('Dan', { externalId: 'dan-1' }), await enroll('Dee')]
  const gone = randomUUID()
  const wrong = await send('POST', `${path}/delete`, {
    subjectIds: ids,
    confirm: 'delete 3 subjects',
  })
  assert.equal(wrong.status, 422)
  assert.equal(wrong.body.problems[0].message, 'must be: delete 2 subjects')
  const body = { subjectIds: [...ids, gone], confirm: 'delete 3 subjects' }
  const { records, unknownIds } = assertOk(await send('POST', `${path}/delete`, body)).body
  assert.deepEqual(unknownIds, [gone])
  const [first, second] = records
  assert.deepEqual([first.subjectId, second.subjectId], ids)
  assert.deepEqual([first.externalId, second.embeddingCount], ['dan-1', 1])
  assert.equal((await get(`${path}/${ids[0]}`)).status, 404)
  assert.equal((await testConsole.gallery.value('svc.identify', imageParams('Dan'))).matched, false)
  const entry = await lastAuditEntry()
  assert.deepEqual([entry.auditAction, entry.detail.subjects], ['subject.deleteSeveral', 2])
  assert.ok(!JSON.stringify(entry).includes('dan-1'), 'no personal data')
  const many = Array.from({ length: subjectDeletionsMax + 1 }, () => randomUUID())
  const confirm = `delete ${subjectDeletionsMax + 1} subjects`
  assert.equal((await send('POST', `${path}/delete`, { subjectIds: many, confirm })).status, 422)
  const most = { subjectIds: many.slice(1), confirm: `delete ${subjectDeletionsMax} subjects` }
  assertOk(await send('POST', `${path}/delete`, most))
})

test('A merge moves faces and groups to the target, and records the deletion of the source', async () => {
  const { gallery } = testConsole
  const attributes = { floor: 1 }
  const target = await enroll('Mia', { displayName: 'Mia', groups: ['a'], attributes })
  const more = { ...imageParams(takeOf('Mia', 1)), duplicateCheck: 'off', displayName: 'Mya' }
  const source = await enroll('Mia', { ...more, groups: ['b'], externalId: 'mya-2' })
  const found = await gallery.value('svc.identify', { subjectId: target })
  assert.equal(found.candidates[0].subjectId, source, 'the search by a stored face finds it')
  const merge = (sourceSubjectId: string, confirm = sourceSubjectId.slice(0, 8)) =>
    send('POST', `${path}/${target}/merge`, { sourceSubjectId, confirm })
  assert.equal((await merge(source, 'nothing')).status, 422)
  assert.equal((await merge(target)).status, 422)
  assert.equal((await merge(randomUUID())).status, 404)
  const { subject, deletionId } = assertOk(await merge(source)).body
  assert.deepEqual(subject.groups, ['a', 'b'])
  assert.deepEqual([subject.displayName, subject.externalId], ['Mia', null])
  assert.deepEqual([subject.attributes, subject.faces.length], [attributes, 2])
  assert.equal((await get(`${path}/${source}`)).status, 404)
  const [record] = (await gallery.rest('GET', `/v1/deletions?subjectId=${source}`)).body.items
  assert.deepEqual(
    [record.deletionId, record.externalId, record.embeddingCount],
    [deletionId, 'mya-2', 0],
  )
  const entry = await lastAuditEntry()
  assert.deepEqual([entry.auditAction, entry.target], ['subject.merge', target])
  assert.deepEqual(entry.detail.sourceSubjectId, source)
  const best = (await gallery.value('svc.identify', imageParams(takeOf('Mia', 1)))).bestMatch
  assert.deepEqual([best.subjectId, best.similarity > 0.95], [target, true], 'of both faces')

  const third = { ...imageParams(takeOf('Mia', 2)), duplicateCheck: 'off' }
  const twoFaces = await enroll('Mia', third)
  await gallery.value('svc.enroll', {
    ...imageParams(takeOf('Mia', 3)),
    subjectId: twoFaces,
    duplicateCheck: 'off',
  })
  const tooMany = await merge(twoFaces)
  assert.equal(tooMany.status, 422)
  assert.match(tooMany.body.detail, /would have 4 templates; the limit is 3/u)
  assert.equal((await subjectOf(twoFaces)).faces.length, 2, 'nothing changed')
  const foreign = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const theirs = (await foreign.value('svc.enroll', imageParams('Mia'))).subjectId
  assert.equal((await merge(theirs)).status, 404, 'a subject of another account')
})

test('An exported list is imported unchanged, and formulas stay text in the file', async () => {
  const formula = '=1+1'
  const subjectId = await enroll('Eva', {
    externalId: `'${formula}`,
    displayName: formula,
    groups: ['x', 'y'],
    attributes: { note: '=2', list: [1] },
    expiresAtUtc: '2090-01-01T00:00:00Z',
  })
  const other = await enroll('Ede', { displayName: '-5' })
  const csv = assertOk(await get(`${path}.csv?subjectIds=${subjectId},${other},${randomUUID()}`))
  const [header, ...rows] = csv.text.trimEnd().split('\r\n')
  assert.equal(
    header,
    'subjectId,externalId,displayName,groups,attributes,expiresAtUtc,embeddingCount,createdAtUtc,updatedAtUtc',
  )
  assert.equal(rows.length, 2)
  assert.ok(rows[0]?.startsWith(`${subjectId},''${formula},'${formula},x y,"{""note""`), rows[0])
  assert.ok(rows[1]?.startsWith(`${other},,-5,,,,1,`), rows[1])
  assert.match(csv.headers.get('content-disposition') ?? '', /facegate-subjects\.csv/u)
  const inGroup = assertOk(await get(`${path}.csv?group=x`))
    .text.trimEnd()
    .split('\r\n')
  assert.deepEqual(inGroup, [header, rows[0]])
  const values = {
    subjectId,
    externalId: `'${formula}`,
    displayName: formula,
    groups: ['y', 'x'],
    attributes: { note: '=2', list: [1] },
    expiresAtUtc: '2090-01-01T00:00:00.000Z',
  }
  const before = await subjectOf(subjectId)
  const imported = await send('POST', `${path}/import`, { rows: [{ line: 2, values }] })
  const unchanged = [{ line: 2, result: 'unchanged', subjectId }]
  assert.deepEqual(assertOk(imported).body.items, unchanged)
  assert.deepEqual(await subjectOf(subjectId), before)
})

test('An import updates existing subjects, and reports each row that it cannot apply', async () => {
  const subjectId = await enroll('Ira', { externalId: 'ira', groups: ['x', 'y'] })
  const taken = await enroll('Ivo', { externalId: 'ivo' })
  const rowsOf = (...list: object[]) => list.map((values, index) => ({ line: index + 2, values }))
  const rows = rowsOf(
    { externalId: 'ira', displayName: 'Ira', groups: ['y', 'z'], attributes: { a: 1 } },
    { externalId: 'missing' },
    { displayName: 'without an id' },
    { subjectId: taken, externalId: 'ira' },
    { externalId: 'ivo', groups: ['not a group'] },
    { externalId: 'ivo', expiresAtUtc: '2020-01-01T00:00:00Z', groups: ['later'] },
    { externalId: 'ivo', attributes: { text: 'x'.repeat(4096) } },
    { subjectId: taken, expiresAtUtc: 'never', colour: 'red' },
    { subjectId: taken, expiresAtUtc: '2090-01-01T00:00:00Z' },
    { subjectId: taken, expiresAtUtc: 'never' },
  )
  const { items } = assertOk(await send('POST', `${path}/import`, { rows })).body
  const results = items.map((item: { result: string }) => item.result)
  const refused = Array.from({ length: 6 }, () => 'refused')
  assert.deepEqual(results, ['updated', 'unknown', ...refused, 'updated', 'updated'])
  assert.deepEqual([items[0].line, items[9].line], [2, 11])
  assert.equal(items[2].message, 'must contain a subjectId or an externalId')
  assert.match(items[4].message, /^groups\[0\] must have 1 to 64/u)
  const ira = await subjectOf(subjectId)
  assert.deepEqual([ira.displayName, ira.groups, ira.attributes], ['Ira', ['y', 'z'], { a: 1 }])
  const ivo = await subjectOf(taken)
  assert.deepEqual([ivo.externalId, ivo.groups, ivo.expiresAtUtc], ['ivo', [], null])
  const entry = await lastAuditEntry()
  assert.deepEqual(
    [entry.auditAction, entry.detail.rows, entry.detail.subjects],
    ['subject.import', rows.length, 3],
  )
  const many = Array.from({ length: subjectChangesMax }, () => ({ externalId: 'missing' }))
  assertOk(await send('POST', `${path}/import`, { rows: rowsOf(...many) }))
  const tooMany = rowsOf(...many, { externalId: 'ira' })
  assert.equal((await send('POST', `${path}/import`, { rows: tooMany })).status, 422)
})

test('A refused playground call states the time after which it can be sent again', async () => {
  const { projectId } = testConsole
  assertOk(await send('PATCH', `/projects/${projectId}`, { sustainedPerS: 1, burst: 1 }))
  steadyClock.advance(1000)
  const call = { action: 'svc.detect', params: imageParams('Rex') }
  const run = async () => assertOk(await send('POST', '/playground', { projectId, call })).body
  assert.equal((await run()).retryAfterS, null)
  const refused = await run()
  assert.equal(refused.envelope.errors[0]?.code, 'RATE_LIMITED')
  assert.ok(refused.retryAfterS > 0)
})
