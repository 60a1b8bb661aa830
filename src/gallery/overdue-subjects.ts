import { formatUtc } from '../lib/clock.ts'
import { listProjectRetentions } from '../store/tenancy/projects.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import { findExpiredSubjects } from '../store/gallery/expired-subjects.ts'
import { findUnseenSubjects } from '../store/gallery/subjects.ts'
import type { ReadTx } from '../store/tx.ts'

const dayMs = 86_400_000
/** Limit of subjects per sweep, so that no call waits long for it. */
const subjectsMax = 200

/**
 * Returns subjects that have expired, or that had no activity for longer than the retention of the
 * project that enrolled them.
 */
export async function overdueSubjects(
  reading: ReadTx,
  nowMs: number,
  defaultRetentionDays: number,
): Promise<readonly SubjectRow[]> {
  const overdue = [...(await findExpiredSubjects(reading, formatUtc(nowMs), subjectsMax))]
  for (const { projectId, retentionDays } of await listProjectRetentions(reading)) {
    const beforeUtc = formatUtc(nowMs - (retentionDays ?? defaultRetentionDays) * dayMs)
    overdue.push(
      ...(await findUnseenSubjects(reading, { projectId, beforeUtc, limit: subjectsMax })),
    )
  }
  const byId = new Map(overdue.map((subject) => [subject.subjectId, subject]))
  return [...byId.values()].slice(0, subjectsMax)
}
