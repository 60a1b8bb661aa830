import { utcOf } from '../lib/utc.ts'
import { projectRetentions } from '../store/projects.ts'
import type { SubjectRow } from '../store/schema.ts'
import { expiredSubjects, unseenSubjects } from '../store/subjects.ts'
import type { Reading } from '../store/tx.ts'

const dayMs = 86_400_000
/** Subjects that one sweep deletes at most, so that no call waits long behind it. */
const subjectsMax = 200

/**
 * Subjects whose time is over: their own, or the retention of the project that enrolled them, counted
 * from when they were last met.
 */
export async function overdueSubjects(
  reading: Reading,
  nowMs: number,
  retentionDays: number,
): Promise<readonly SubjectRow[]> {
  const overdue = [...(await expiredSubjects(reading, utcOf(nowMs), subjectsMax))]
  for (const { projectId, retentionDays: own } of await projectRetentions(reading)) {
    const beforeUtc = utcOf(nowMs - (own ?? retentionDays) * dayMs)
    overdue.push(...(await unseenSubjects(reading, { projectId, beforeUtc, limit: subjectsMax })))
  }
  const byId = new Map(overdue.map((subject) => [subject.subjectId, subject]))
  return [...byId.values()].slice(0, subjectsMax)
}
