import assert from 'node:assert/strict'
import { enrollPerson, identify, pictureOf } from '../gallery/feedback.ts'
import { imageParams, type TestGallery } from '../gallery/test-gallery.ts'
import type { ConsoleWrite } from './calibration-writes.ts'
import { assertOk, type TestConsole } from './test-console.ts'

/** Enrolls subjects, and returns the requests that change several of them. */
export async function subjectWrites(testConsole: TestConsole): Promise<readonly ConsoleWrite[]> {
  const { gallery, projectId } = testConsole
  const subjectIds: string[] = []
  for (const name of ['Sue', 'Sam', 'Sid'])
    subjectIds.push((await gallery.value('svc.enroll', imageParams(name))).subjectId)
  const [kept = '', merged = '', deleted = ''] = subjectIds
  const second = { ...imageParams({ name: 'Sue', take: 2, deviation: 0.3 }), subjectId: kept }
  const { faceId } = await gallery.value('svc.enroll', { ...second, duplicateCheck: 'off' })
  const path = `/projects/${projectId}/subjects`
  const mergeId = await mergeTwo(gallery, projectId)
  const { subjectId } = await gallery.value('svc.enroll', imageParams('Sol'))
  const { deletionId } = await gallery.value('svc.deleteSubject', { subjectId })
  return [
    await verdictWrite(testConsole),
    ...(await visitorWrites(testConsole)),
    ['POST', `/projects/${projectId}/health`, undefined],
    ['POST', `/deletions/${deletionId}/certificate`, undefined],
    ['POST', `${path}/${kept}/distinct`, { otherSubjectId: deleted, distinct: true }],
    ['POST', `/projects/${projectId}/merges/${mergeId}/undo`, undefined],
    ['POST', `${path}/groups`, { subjectIds, addGroups: ['several'] }],
    ['POST', `${path}/import`, { rows: [{ line: 2, values: { subjectId: kept, groups: [] } }] }],
    ['POST', `/projects/${projectId}/groups/several/rename`, { name: 'many' }],
    ['POST', `${path}/${kept}/faces/${faceId}/move`, { targetSubjectId: deleted }],
    ['POST', `${path}/${kept}/merge`, { sourceSubjectId: merged, confirm: merged.slice(0, 8) }],
    ['POST', `${path}/delete`, { subjectIds: [deleted], confirm: 'delete 1 subject' }],
  ]
}

/** Makes a call that matches a subject, and returns the request that confirms the match. */
async function verdictWrite({ gallery, owner, projectId }: TestConsole): Promise<ConsoleWrite> {
  const { db } = gallery.database.store
  await db.updateTable('projects').set({ feedback: 1 }).where('projectId', '=', projectId).execute()
  const subjectId = await enrollPerson(gallery, 'Sia')
  const { requestId } = await identify(gallery, { ...pictureOf('Sia', 0), threshold: 0.9 })
  const { items } = assertOk(await owner.get(`/log?requestId=${requestId}`)).body
  const body = { subjectId, resultIndex: 0, faceIndex: 0, verdict: 'confirmed' }
  return ['POST', `/log/${items[0].callId}/verdict`, body]
}

/** Stores visitors, and returns the requests that change them. */
async function visitorWrites(testConsole: TestConsole): Promise<readonly ConsoleWrite[]> {
  const { owner, gallery, projectId } = testConsole
  const path = `/projects/${projectId}`
  const store = async (unknownPeople: boolean) =>
    assertOk(await owner.send('PATCH', path, { switches: { unknownPeople } }))
  const visit = async (name: string): Promise<string> => {
    const call = { action: 'svc.identify', params: imageParams(name) }
    const { body } = assertOk(await owner.send('POST', '/playground', { projectId, call }))
    return body.envelope.data.results[0].value.faces[0].visitorId
  }
  await store(true)
  const [promoted, merged, deleted] = [await visit('Vic'), await visit('Val'), await visit('Vin')]
  await store(false)
  const { subjectId } = await gallery.value('svc.enroll', imageParams('Vera'))
  return [
    ['POST', `${path}/visitors/${promoted}/ignore`, { ignored: true }],
    ['POST', `${path}/visitors/${promoted}/promote`, { displayName: 'Vic' }],
    ['POST', `${path}/visitors/${merged}/merge`, { subjectId }],
    ['DELETE', `${path}/visitors/${deleted}`, { confirm: deleted.slice(0, 8) }],
  ]
}

/** Merges two subjects. @returns the id to undo the merge with. */
async function mergeTwo(gallery: TestGallery, galleryId: string): Promise<string> {
  const { subjects } = gallery.openedGallery
  const enroll = async (name: string): Promise<string> =>
    (await gallery.value('svc.enroll', imageParams(name))).subjectId
  const [first, second] = [await enroll('Mona'), await enroll('Moni')]
  return gallery.database.store.write(async (tx) => {
    await subjects.lock(tx, galleryId, 'exclusive')
    const [target] = await subjects.findByIds(tx, galleryId, [first])
    const [source] = await subjects.findByIds(tx, galleryId, [second])
    assert.ok(target && source)
    return (await subjects.merge(tx, { source, target })).mergeId
  })
}
