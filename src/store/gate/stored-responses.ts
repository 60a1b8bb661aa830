import { sql } from '../load-kysely.ts'
import type { Tx } from '../tx.ts'
import type { AttemptKey } from './statements.ts'

/** Records which subjects a stored response names. */
export async function addResponseSubjects(
  tx: Tx,
  key: AttemptKey,
  subjectIds: readonly string[],
): Promise<void> {
  if (subjectIds.length === 0) return
  const { projectId, requestId } = key
  const rows = [...new Set(subjectIds)].map((subjectId) => ({ subjectId, projectId, requestId }))
  await tx.run(tx.build.insertInto('responseSubjects').values(rows))
}

/** Replaces every stored response that names the subject by its version without subjects. */
export async function scrubResponses(tx: Tx, subjectId: string): Promise<void> {
  const namesSubject = sql<boolean>`("projectId", "requestId") in
    (select "projectId", "requestId" from "responseSubjects" where "subjectId" = ${subjectId})`
  const scrubbed = { answer: sql<Uint8Array>`coalesce(scrubbed, answer)`, scrubbed: null }
  await tx.run(tx.build.updateTable('attempts').set(scrubbed).where(namesSubject))
  await tx.run(tx.build.deleteFrom('responseSubjects').where('subjectId', '=', subjectId))
}
