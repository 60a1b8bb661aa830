import { sql } from 'kysely'
import type { AttemptKey, Tx } from '../tx.ts'

/** Notes which subjects a stored answer names. */
export async function addResponseSubjects(
  tx: Tx,
  key: AttemptKey,
  subjectIds: readonly string[],
): Promise<void> {
  if (subjectIds.length === 0) return
  const { projectId, requestId } = key
  const rows = [...new Set(subjectIds)].map((subjectId) => ({ subjectId, projectId, requestId }))
  await tx.run(tx.build.insertInto('answerSubjects').values(rows))
}

/** Puts in the place of every stored answer that names the subject what is left without names. */
export async function scrubResponses(tx: Tx, subjectId: string): Promise<void> {
  const named = sql<boolean>`("projectId", "requestId") in
    (select "projectId", "requestId" from "answerSubjects" where "subjectId" = ${subjectId})`
  const scrubbed = { answer: sql<Uint8Array>`coalesce(scrubbed, answer)`, scrubbed: null }
  await tx.run(tx.build.updateTable('attempts').set(scrubbed).where(named))
  await tx.run(tx.build.deleteFrom('answerSubjects').where('subjectId', '=', subjectId))
}
