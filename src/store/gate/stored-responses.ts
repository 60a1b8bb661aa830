import { sql } from '../load-kysely.ts'
import type { Tx } from '../tx.ts'

/** Replaces every stored response that names the subject by its version without subjects. */
export async function scrubResponses(tx: Tx, subjectId: string): Promise<void> {
  const namesSubject = sql<boolean>`("projectId", "requestId") in
    (select "projectId", "requestId" from "responseSubjects" where "subjectId" = ${subjectId})`
  const scrubbed = { response: sql<Uint8Array>`coalesce(scrubbed, response)`, scrubbed: null }
  await tx.run(tx.build.updateTable('attempts').set(scrubbed).where(namesSubject))
  await tx.run(tx.build.deleteFrom('responseSubjects').where('subjectId', '=', subjectId))
}
