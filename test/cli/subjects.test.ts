import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { project } from '../../src/cli/tenancy/commands.ts'
import { subjectCommands } from '../../src/cli/subject/commands.ts'
import { createLineRunner } from '../support/cli/run-json.ts'
import { assertOk, startConsole, type TestConsole } from '../support/console/test-console.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { takeOf } from '../support/gallery/fake-vision.ts'

let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole()
})
after(() => testConsole[Symbol.asyncDispose]())

const dataDir = (): string => testConsole.gallery.dataDir
const { runForLines, runForJson } = createLineRunner([subjectCommands, project], dataDir)

async function enroll(name: string, params: object = {}): Promise<string> {
  const image = imageParams(name)
  const value = await testConsole.gallery.value('svc.enroll', { ...image, ...params })
  return value.subjectId
}

/** Returns the line of a command for the project of the test. */
const line = (command: string): string => `subject ${command} --project ${testConsole.projectId}`

async function lastAuditEntry() {
  return assertOk(await testConsole.owner.get('/audit?limit=1')).body.items[0]
}

test('subjects are listed by group and text, and shown by either id', async () => {
  const subjectId = await enroll('Ada', {
    externalId: 'listed-1',
    displayName: 'Ädä Müller',
    groups: ['listed'],
    attributes: { room: 12 },
  })
  await enroll('Ben', { externalId: 'listed-2', groups: ['listed'] })
  const group = await runForJson(line('list --group listed'))
  assert.deepEqual(
    group.map((row: { externalId: string }) => row.externalId),
    ['listed-1', 'listed-2'],
  )
  assert.equal((await runForJson(line('list --group listed --limit 1'))).length, 1)
  const [found, ...others] = await runForJson(line('list --text muller'))
  assert.deepEqual([found.subjectId, others.length], [subjectId, 0])
  for (const id of [subjectId, subjectId.toUpperCase(), 'listed-1']) {
    const shown = await runForJson(line(`show ${id}`))
    assert.deepEqual([shown.subjectId, shown.attributes], [subjectId, { room: 12 }])
    assert.ok(shown.lastSeenAtUtc)
  }
  assert.match((await runForLines(line('show listed-1'))).join('\n'), /displayName +Ädä Müller/u)
  await assert.rejects(runForLines(line('show absent')), /the gallery has no subject absent/u)
  await runForJson('project create apart')
  await assert.rejects(runForLines('subject show listed-1 --project apart'), /no subject listed-1/u)
})

test('the export contains all data of one subject with its crops, and is audited', async () => {
  const change = { switches: { storeCrops: true } }
  assertOk(await testConsole.owner.send('PATCH', `/projects/${testConsole.projectId}`, change))
  const subjectId = await enroll('Eva', { externalId: 'exported', attributes: { shoe: 'red' } })
  const out = path.join(dataDir(), 'export.json')
  const written = await runForJson(line(`export exported --out ${out}`))
  assert.deepEqual(written, { subjectId, file: out, faces: 1 })
  assert.equal((await stat(out)).mode & 0o777, 0o600)
  const text = await readFile(out, 'utf8')
  const { subject } = JSON.parse(text)
  assert.deepEqual(
    [subject.externalId, subject.attributes, subject.embeddingCount],
    ['exported', { shoe: 'red' }, 1],
  )
  const [face] = subject.faces
  assert.deepEqual(face.templatesOfModels, ['people@1'])
  const stored = await testConsole.gallery.rest('GET', `/v1/subjects/${subjectId}?include=faces`)
  assert.equal(face.faceId, stored.body.faces[0].faceId)
  const crop = await testConsole.owner.get(
    `/projects/${testConsole.projectId}/subjects/${subjectId}/faces/${face.faceId}/crop`,
  )
  assert.ok(face.cropJpeg, 'the stored crop is part of the data')
  assert.equal(crop.status, 200)
  assert.doesNotMatch(text, /listed-1/u, 'no other subject')
  const entry = await lastAuditEntry()
  assert.deepEqual([entry.auditAction, entry.target], ['subject.export', subjectId])
  await assert.rejects(runForLines(line(`export exported --out ${out}`)), /exists already/u)
  assert.equal(await readFile(out, 'utf8'), text)
})

test('a subject is deleted while the server runs, with a deletion record', async () => {
  const subjectId = await enroll('Gus', { externalId: 'deleted' })
  const found = await testConsole.gallery.value('svc.identify', imageParams('Gus'))
  assert.equal(found.bestMatch.subjectId, subjectId)
  const deleted = await runForJson(line('delete deleted'))
  assert.deepEqual([deleted.subjectId, deleted.embeddingCount], [subjectId, 1])
  const entry = await lastAuditEntry()
  assert.deepEqual([entry.auditAction, entry.target], ['subject.delete', subjectId])
  const after = await testConsole.gallery.value('svc.identify', imageParams('Gus'))
  assert.equal(after.matched, false)
  const records = await testConsole.gallery.rest('GET', '/v1/deletions')
  assert.equal(records.body.items[0].subjectId, subjectId)
  await assert.rejects(runForLines(line('delete deleted')), /no subject deleted/u)
})

/** Enrolls a person twice: as `<name>-1` and as `<name>-2`, with another group. */
async function enrollTwice(name: string) {
  const target = await enroll(name, { externalId: `${name}-1`, groups: ['both'] })
  const source = await enroll(name, {
    ...imageParams(takeOf(name, 1)),
    externalId: `${name}-2`,
    groups: ['added'],
    duplicateCheck: 'off',
  })
  return { target, source }
}

const bestOf = async (name: string, take: number) =>
  (await testConsole.gallery.value('svc.identify', imageParams(takeOf(name, take)))).bestMatch

test('a merge moves the faces while the server runs, is listed, and is undone once', async () => {
  const { target, source } = await enrollTwice('Hal')
  assert.equal((await bestOf('Hal', 1)).subjectId, source)
  const merged = await runForJson(line('merge Hal-2 --into Hal-1'))
  assert.deepEqual([merged.subjectId, merged.sourceSubjectId], [target, source])
  assert.equal((await bestOf('Hal', 1)).subjectId, target)
  const entry = await lastAuditEntry()
  assert.deepEqual(
    [entry.auditAction, entry.target, entry.detail.sourceSubjectId, entry.detail.mergeId],
    ['subject.merge', target, source, merged.mergeId],
  )
  const records = await testConsole.gallery.rest('GET', '/v1/deletions')
  assert.equal(records.body.items[0].subjectId, source)
  const [listed, ...others] = await runForJson(line('merges'))
  assert.deepEqual([listed.mergeId, listed.subjectId, others.length], [merged.mergeId, target, 0])
  const keptDays = (Date.parse(listed.expiresAtUtc) - Date.parse(listed.mergedAtUtc)) / 86_400_000
  assert.equal(keptDays, 30)
  const table = (await runForLines(line('merges'))).join('\n')
  assert.match(table, new RegExp(`can be undone until\\n${merged.mergeId}  ${target}`, 'u'))
  const separated = await runForJson(line(`unmerge ${merged.mergeId.toUpperCase()}`))
  assert.equal(separated.targetSubjectId, target)
  const found = await bestOf('Hal', 1)
  assert.deepEqual([found.subjectId, found.similarity], [separated.subjectId, 1])
  const shown = await runForJson(line('show Hal-2'))
  assert.deepEqual([shown.subjectId, shown.groups], [separated.subjectId, ['added']])
  const undone = await lastAuditEntry()
  assert.deepEqual([undone.auditAction, undone.target], ['subject.undoMerge', target])
  assert.deepEqual(await runForJson(line('merges')), [])
  for (const id of [merged.mergeId, 'absent'])
    await assert.rejects(runForLines(line(`unmerge ${id}`)), /no merge with this id/u)
})

test('a merge of the command line is undone in the console, and one of the console here', async () => {
  const { target, source } = await enrollTwice('Ida')
  const project = `/projects/${testConsole.projectId}`
  const { mergeId } = await runForJson(line('merge Ida-2 --into Ida-1'))
  const undo = await testConsole.owner.send('POST', `${project}/merges/${mergeId}/undo`)
  const { subjectId } = assertOk(undo).body.subject
  assert.notEqual(subjectId, source)
  const body = { sourceSubjectId: subjectId, confirm: subjectId.slice(0, 8) }
  const path = `${project}/subjects/${target}/merge`
  const merged = assertOk(await testConsole.owner.send('POST', path, body)).body
  await runForJson(line(`unmerge ${merged.mergeId}`))
  assert.equal((await runForJson(line('show Ida-2'))).embeddingCount, 1)
})

test('a merge that is not possible changes nothing', async () => {
  await enrollTwice('Jan')
  for (const [command, message] of [
    ['merge Jan-1 --into Jan-1', /--into must be another subject than Jan-1/u],
    ['merge Jan-1 --into absent', /no subject absent/u],
    ['merge absent --into Jan-1', /no subject absent/u],
    ['distinct Jan-1 Jan-1', /the two subjects must be different/u],
    ['distinct Jan-1 absent', /no subject absent/u],
  ] as const)
    await assert.rejects(runForLines(line(command)), message)
  assert.equal((await runForJson(line('show Jan-2'))).embeddingCount, 1)
  assert.deepEqual(await runForJson(line('merges')), [])
})

test('two subjects are marked as different people, and the mark is removed', async () => {
  const { target, source } = await enrollTwice('Kai')
  const { db } = testConsole.gallery.database.store
  const marks = () => db.selectFrom('distinctSubjects').selectAll().execute()
  const marked = await runForJson(line('distinct Kai-1 Kai-2'))
  assert.deepEqual(marked, { subjectId: target, otherSubjectId: source, distinct: true })
  const [mark, ...others] = await marks()
  assert.deepEqual([mark?.decidedBy, others.length], ['command line', 0])
  assert.deepEqual(new Set([mark?.subjectId, mark?.otherId]), new Set([target, source]))
  const entry = await lastAuditEntry()
  assert.deepEqual([entry.auditAction, entry.target], ['subject.setDistinct', target])
  const removed = await runForLines(line('distinct Kai-2 Kai-1 --undo'))
  assert.match(removed.join(), /are no longer marked as different people/u)
  assert.deepEqual(await marks(), [])
})
