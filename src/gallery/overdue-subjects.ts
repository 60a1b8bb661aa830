import { formatUtc } from '../lib/utc.ts'
import { listProjectRetentions } from '../store/tenancy/projects.ts'
import type { SubjectRow } from '../store/schema.ts'
import { findExpiredSubjects, findUnseenSubjects } from '../store/gallery/subjects.ts'
import type { ReadTx } from '../store/tx.ts'

const dayMs = 86_400_000
/** Subjects that one sweep deletes at most, so that no call waits long behind it. */
const subjectsMax = 200

/**
 * Subjects whose time is over: their own, or the retention of the project that enrolled them, counted
 * from when they were last met.
 */
export async function overdueSubjects(
  reading: ReadTx,
  nowMs: number,
  retentionDays: number,
): Promise<readonly SubjectRow[]> {
  const overdue = [...(await findExpiredSubjects(reading, formatUtc(nowMs), subjectsMax))]
  for (const { projectId, retentionDays: own } of await listProjectRetentions(reading)) {
    const beforeUtc = formatUtc(nowMs - (own ?? retentionDays) * dayMs)
    overdue.push(
      ...(await findUnseenSubjects(reading, { projectId, beforeUtc, limit: subjectsMax })),
    )
  }
  const byId = new Map(overdue.map((subject) => [subject.subjectId, subject]))
  return [...byId.values()].slice(0, subjectsMax)
}
