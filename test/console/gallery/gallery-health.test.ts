import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { rotateKeys } from '../../../src/gallery/keys/rotate-keys.ts'
import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { assertOk, startConsole, type TestConsole } from '../../support/console/test-console.ts'
import { isOnPostgres } from '../../support/database/engine.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'
import { takeOf } from '../../support/gallery/fake-vision.ts'

let testConsole: TestConsole
let project: string
const clock = { offsetMs: 0 }
before(async () => {
  const environment = { COMPREFACE_API: 'on' }
  testConsole = await startConsole({ environment, clock: () => Date.now() + clock.offsetMs })
  project = `/projects/${testConsole.projectId}`
})
after(() => testConsole[Symbol.asyncDispose]())

const { send, get } = {
  send: (method: string, target: string, body?: unknown) =>
    testConsole.owner.send(method, `${project}${target}`, body),
  get: (target: string) => testConsole.owner.get(`${project}${target}`),
}

async function enroll(name: string, params: object = {}): Promise<string> {
  const { gallery } = testConsole
  const all = { ...imageParams(name), duplicateCheck: 'off', ...params }
  return (await gallery.value('svc.enroll', all)).subjectId
}

/** Enrolls a person twice and merges the second subject into the first one. */
async function enrollAndMerge(name: string, fields: object = {}) {
  const target = await enroll(name, { displayName: name, groups: ['both', 'own'] })
  const source = await enroll(name, {
    ...imageParams(takeOf(name, 1)),
    displayName: `${name} again`,
    groups: ['both', 'added'],
    attributes: { floor: 2 },
    ...fields,
  })
  return { target, source, mergeId: await merge(source, target) }
}

async function merge(source: string, target: string): Promise<string> {
  const body = { sourceSubjectId: source, confirm: source.slice(0, 8) }
  return assertOk(await send('POST', `/subjects/${target}/merge`, body)).body.mergeId
}

const undo = (mergeId: string) => send('POST', `/merges/${mergeId}/undo`)
const subjectOf = async (subjectId: string) => assertOk(await get(`/subjects/${subjectId}`)).body
const mergeIds = async () =>
  assertOk(await get('/health')).body.merges.map((merge: { mergeId: string }) => merge.mergeId)
const bestMatch = async (name: string, take: number) =>
  (await testConsole.gallery.value('svc.identify', imageParams(takeOf(name, take)))).bestMatch

async function lastAuditEntry() {
  return assertOk(await testConsole.owner.get('/audit?limit=1')).body.items[0]
}

test('The undo of a merge restores the subject with its data, groups and faces', async () => {
  const { target, source, mergeId } = await enrollAndMerge('Mia', { externalId: 'mia-2' })
  assert.ok((await mergeIds()).includes(mergeId))
  assert.deepEqual((await subjectOf(target)).groups, ['added', 'both', 'own'])
  const { subject } = assertOk(await undo(mergeId)).body
  assert.notEqual(subject.subjectId, source, 'the deletion of the former id is recorded')
  assert.deepEqual(
    [subject.externalId, subject.displayName, subject.groups, subject.attributes],
    ['mia-2', 'Mia again', ['added', 'both'], { floor: 2 }],
  )
  const kept = await subjectOf(target)
  assert.deepEqual([kept.faces.length, kept.groups], [1, ['both', 'own']])
  const found = await bestMatch('Mia', 1)
  assert.deepEqual([found.subjectId, found.similarity], [subject.subjectId, 1])
  const inGroup = { ...imageParams('Mia'), groups: ['added'] }
  const best = (await testConsole.gallery.value('svc.identify', inGroup)).bestMatch
  assert.equal(best.subjectId, subject.subjectId, 'the search filters by the restored groups')
  const entry = await lastAuditEntry()
  assert.deepEqual([entry.auditAction, entry.target], ['subject.undoMerge', target])
  assert.ok(!JSON.stringify(entry).includes('mia-2'), 'no personal data')
  assert.equal((await undo(mergeId)).status, 404, 'only once')
  assert.ok(!(await mergeIds()).includes(mergeId))
})

test('The undo of a merge follows a group that was renamed since', async () => {
  const { target, mergeId } = await enrollAndMerge('Rex', { groups: ['both', 'east'] })
  const renaming = ['POST', '/v1/groups/east/rename', { name: 'west' }] as const
  assert.equal((await testConsole.gallery.rest(...renaming)).status, 200)
  const { subject } = assertOk(await undo(mergeId)).body
  assert.deepEqual(subject.groups, ['both', 'west'])
  assert.deepEqual((await subjectOf(target)).groups, ['both', 'own'])
})

test('A group of two merged subjects is removed by the undo of the last merge', async () => {
  for (const order of ['older first', 'newer first']) {
    const { target, mergeId } = await enrollAndMerge(`Sol, ${order}`)
    const source = await enroll(`Sam, ${order}`, { groups: ['added', 'mine'] })
    const second = await merge(source, target)
    const merges = order === 'older first' ? [mergeId, second] : [second, mergeId]
    for (const undone of merges) {
      assert.ok(
        (await subjectOf(target)).groups.includes('added'),
        `${order}: a merge is in effect`,
      )
      assertOk(await undo(undone))
    }
    assert.deepEqual((await subjectOf(target)).groups, ['both', 'own'], order)
  }
})

test('After the undo of a merge of a subject without faces, its groups are in no search', async () => {
  const { gallery } = testConsole
  const target = await enroll('Uli')
  const { body } = await gallery.rest('POST', '/api/v1/recognition/subjects', { subject: 'empty' })
  assert.equal(body.subject, 'empty')
  const found = await gallery.rest('GET', '/v1/subjects?externalId=empty')
  const [{ subjectId: source }] = found.body.items
  await gallery.value('svc.updateSubject', { subjectId: source, addGroups: ['vault'] })
  const mergeId = await merge(source, target)
  const search = { ...imageParams('Uli'), groups: ['vault'] }
  assert.equal((await gallery.value('svc.identify', search)).bestMatch.subjectId, target)
  assertOk(await undo(mergeId))
  assert.equal((await gallery.value('svc.identify', search)).matched, false)
})

test('An undo is refused while it would leave a subject without a face or without its external id', async () => {
  const { target, mergeId } = await enrollAndMerge('Nia', { externalId: 'nia-2' })
  const other = await enroll('Nils', { externalId: 'nia-2' })
  const conflict = await undo(mergeId)
  assert.match(conflict.body.detail, /another subject has this externalId/u)
  await testConsole.gallery.value('svc.deleteSubject', { subjectId: other })
  const { faces } = await subjectOf(target)
  const own = faces.find(({ faceId }: { faceId: string }) => faceId !== faces.at(-1).faceId)
  assertOk(await send('DELETE', `/subjects/${target}/faces/${own.faceId}`))
  assert.match((await undo(mergeId)).body.detail, /the other subject would have none/u)
  const viewer = await testConsole.inviteMember('viewer')
  assert.equal((await viewer.send('POST', `${project}/merges/${mergeId}/undo`)).status, 403)
  assert.equal((await undo(randomUUID())).status, 404)
})

test('A merge can be undone after a rotation of the master key and of the subject key', async () => {
  const { target, mergeId } = await enrollAndMerge('Oda')
  await enroll('Oda', { ...imageParams(takeOf('Oda', 2)), subjectId: target })
  const { faces } = await subjectOf(target)
  // The next rotation gives the subject a new key.
  assertOk(await send('DELETE', `/subjects/${target}/faces/${faces.at(-1).faceId}`))
  const { dataDir, database } = testConsole.gallery
  const masterKeyFile = path.join(dataDir, 'master.key')
  const rotation = { store: database.store, masterKeyFile, nowMs: Date.now }
  const rotated = await runAsAllAccounts(() => rotateKeys(rotation))
  assert.ok(rotated.renewed > 0)
  assert.equal(rotated.unreadable, 0)
  const { subject } = assertOk(await undo(mergeId)).body
  assert.equal(subject.displayName, 'Oda again')
})

/** Returns the database files that contain a text. */
async function mentions(text: string): Promise<string[]> {
  const { dataDir, database } = testConsole.gallery
  await database.store.checkpoint()
  const files = (await readdir(dataDir)).filter((name) => name.startsWith('facegate.db'))
  const contents = await Promise.all(files.map((file) => readFile(path.join(dataDir, file))))
  return files.filter((_, index) => contents[index]?.includes(text))
}

test('A merge is encrypted, and deleted with its subject or after 30 days', async () => {
  const { db } = testConsole.gallery.database.store
  const first = await enrollAndMerge('Pia', { displayName: 'Pia Quillfeather' })
  if (!isOnPostgres()) assert.deepEqual(await mentions('Pia Quillfeather'), [])
  const rows = () =>
    db.selectFrom('subjectMerges').select('mergeId').where('subjectId', '=', first.target).execute()
  assert.equal((await rows()).length, 1)
  const distinctFrom = await enroll('Quinn')
  const decide = (otherSubjectId: string, distinct = true) =>
    send('POST', `/subjects/${first.target}/distinct`, { otherSubjectId, distinct })
  assertOk(await decide(distinctFrom.toUpperCase()))
  assertOk(await decide(distinctFrom))
  assertOk(await decide(distinctFrom, false))
  assert.deepEqual(await db.selectFrom('distinctSubjects').selectAll().execute(), [])
  assertOk(await decide(distinctFrom))
  const { distinct } = assertOk(await get('/health')).body
  const pair = [first.target, distinctFrom].toSorted()
  assert.equal(distinct.length, 1)
  assert.deepEqual([distinct[0].subjectId, distinct[0].otherId], pair)
  assert.equal(distinct[0].decidedBy, 'Olga')
  assert.equal((await decide(first.target)).status, 422)
  assert.equal((await decide(randomUUID())).status, 404)
  assert.equal((await lastAuditEntry()).auditAction, 'subject.setDistinct')
  await testConsole.gallery.value('svc.deleteSubject', { subjectId: first.target })
  assert.deepEqual(await rows(), [])
  assert.deepEqual(await db.selectFrom('distinctSubjects').selectAll().execute(), [])

  const second = await enrollAndMerge('Rob')
  const sweep = () => runAsAllAccounts(() => testConsole.gallery.openedGallery.maintenance.sweep())
  const mergeAfter = async (offsetMs: number) => {
    clock.offsetMs = offsetMs
    try {
      await sweep()
      const [row] = await db
        .selectFrom('subjects')
        .leftJoin('subjectMerges', 'subjectMerges.subjectId', 'subjects.subjectId')
        .select(['mergeId', 'needsNewKey'])
        .where('subjects.subjectId', '=', second.target)
        .execute()
      return { ...row }
    } finally {
      clock.offsetMs = 0
    }
  }
  const thirtyDaysMs = 30 * 86_400_000
  const before = await mergeAfter(thirtyDaysMs - 60_000)
  assert.deepEqual(before, { mergeId: second.mergeId, needsNewKey: 0 })
  assert.deepEqual(await mergeAfter(thirtyDaysMs), { mergeId: null, needsNewKey: 1 })
  assert.equal((await undo(second.mergeId)).status, 404)
  assert.equal((await subjectOf(second.target)).faces.length, 2, 'the merge itself stays')
})

test('The server checks a gallery in a thread and returns the subjects with issues', async () => {
  assert.equal(assertOk(await get('/health')).body.check, null)
  const single = await enroll('Solo', { externalId: 'solo' })
  const { measurementId } = assertOk(await send('POST', '/health')).body
  assert.equal((await lastAuditEntry()).auditAction, 'gallery.check')
  for (;;) {
    const { check } = assertOk(await get('/health')).body
    assert.equal(check.measurementId, measurementId)
    if (check.state === 'running') {
      await sleep(20)
      continue
    }
    assert.equal(check.state, 'measured')
    const { results, issues } = check.result
    const found = results.find((result: { subjectId: string }) => result.subjectId === single)
    assert.deepEqual(found.issues, ['onePicture'])
    assert.ok(issues.onePicture > 0)
    break
  }
  const viewer = await testConsole.inviteMember('viewer')
  assert.equal((await viewer.send('POST', `${project}/health`)).status, 403)
  const foreign = await testConsole.gallery.createProjectClient({ galleryMode: 'isolated' })
  const unknown = `/projects/${foreign.project.projectId}/health`
  assert.equal((await testConsole.owner.get(unknown)).status, 404)
})
