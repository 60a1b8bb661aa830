import assert from 'node:assert/strict'
import { imageParams, type TestGallery } from '../gallery/test-gallery.ts'
import type { ConsoleWrite } from './calibration-writes.ts'
import type { TestConsole } from './test-console.ts'

/** Enrolls subjects, and returns the requests that change several of them. */
export async function subjectWrites({
  gallery,
  projectId,
}: TestConsole): Promise<readonly ConsoleWrite[]> {
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
