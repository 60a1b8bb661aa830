import { addEvent } from '../store/webhooks/events.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import type { Tx } from '../store/database.ts'

/** Returns the function that stores `subject.expired` in the transaction of a deletion. */
export function createSubjectExpired(outboxMax: number) {
  return async (tx: Tx, subject: SubjectRow, deletedAtUtc: string): Promise<void> => {
    const { projectId, subjectId, externalId, expiresAtUtc } = subject
    const hasExpired = expiresAtUtc !== null && expiresAtUtc <= deletedAtUtc
    const reason = hasExpired ? 'expiresAtUtc' : 'retention'
    const data = { subjectId, externalId, reason, deletedAtUtc }
    const atMs = Date.parse(deletedAtUtc)
    await addEvent(tx, { projectId, type: 'subject.expired', data, atMs }, { outboxMax })
  }
}
