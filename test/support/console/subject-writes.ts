import { imageParams } from '../gallery/test-gallery.ts'
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
  return [
    ['POST', `${path}/groups`, { subjectIds, addGroups: ['several'] }],
    ['POST', `${path}/import`, { rows: [{ line: 2, values: { subjectId: kept, groups: [] } }] }],
    ['POST', `/projects/${projectId}/groups/several/rename`, { name: 'many' }],
    ['POST', `${path}/${kept}/faces/${faceId}/move`, { targetSubjectId: deleted }],
    ['POST', `${path}/${kept}/merge`, { sourceSubjectId: merged, confirm: merged.slice(0, 8) }],
    ['POST', `${path}/delete`, { subjectIds: [deleted], confirm: 'delete 1 subject' }],
  ]
}
