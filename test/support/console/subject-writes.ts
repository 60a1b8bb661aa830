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
  const path = `/projects/${projectId}/subjects`
  return [
    ['POST', `${path}/groups`, { subjectIds, addGroups: ['several'] }],
    ['POST', `${path}/import`, { rows: [{ line: 2, values: { subjectId: kept, groups: [] } }] }],
    ['POST', `${path}/${kept}/merge`, { sourceSubjectId: merged, confirm: merged.slice(0, 8) }],
    ['POST', `${path}/delete`, { subjectIds: [deleted], confirm: 'delete 1 subject' }],
  ]
}
