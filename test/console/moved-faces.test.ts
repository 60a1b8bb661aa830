import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { assertOk, startConsole, type TestConsole } from '../support/console/test-console.ts'
import { takeOf } from '../support/gallery/fake-vision.ts'

let testConsole: TestConsole
let path: string
before(async () => {
  testConsole = await startConsole()
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

test('A face is moved to another subject, and a group is renamed, each with an audit entry', async () => {
  const source = await enroll('Nia', { groups: ['day'] })
  const more = { ...imageParams(takeOf('Nia', 1)), duplicateCheck: 'off' }
  const { faceId } = await testConsole.gallery.value('svc.enroll', { ...more, subjectId: source })
  const targetSubjectId = await enroll('Nils')
  const move = (body: object, id = faceId) =>
    send('POST', `${path}/${source}/faces/${id}/move`, body)
  assert.equal((await move({ targetSubjectId: source })).status, 422)
  assert.equal((await move({ targetSubjectId: randomUUID() })).status, 422)
  assert.equal((await move({ targetSubjectId }, randomUUID())).status, 404)
  const moved = assertOk(await move({ targetSubjectId })).body
  assert.deepEqual([moved.subject.faces.length, moved.target.faces.length], [1, 2])
  const entry = await lastAuditEntry()
  assert.deepEqual([entry.auditAction, entry.target], ['subject.moveFace', source])
  assert.deepEqual([entry.detail.faceId, entry.detail.targetSubjectId], [faceId, targetSubjectId])
  const probe = { ...imageParams(takeOf('Nia', 1)), subjectId: targetSubjectId }
  assert.equal((await testConsole.gallery.value('svc.verify', probe)).faceId, faceId)
  const last = (await subjectOf(source)).faces[0].faceId
  assert.equal((await move({ targetSubjectId }, last)).status, 422, 'the last face')

  const groups = `/projects/${testConsole.projectId}/groups`
  const renamed = assertOk(await send('POST', `${groups}/day/rename`, { name: 'night' })).body
  assert.deepEqual(renamed, { name: 'night', subjectCount: 1 })
  assert.deepEqual((await subjectOf(source)).groups, ['night'])
  const { auditAction, detail } = await lastAuditEntry()
  assert.deepEqual([auditAction, detail.newName], ['group.rename', 'night'])
  assert.equal((await send('POST', `${groups}/day/rename`, { name: 'noon' })).status, 404)
})
