import type { DeletionRecord } from '../../store/gallery/deletions.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import type { Tx } from '../../store/tx.ts'
import type { OnExpiredDeleted } from '../unexpired-subjects.ts'

type RemoveSubject = (tx: Tx, subject: SubjectRow) => Promise<DeletionRecord>

/** Returns the removal of subjects whose time has ended, which also calls `onExpired`. */
export function reportRemoval(
  remove: RemoveSubject,
  onExpired: OnExpiredDeleted | undefined,
): RemoveSubject {
  return async (tx, subject) => {
    const record = await remove(tx, subject)
    await onExpired?.(tx, subject, record.deletedAtUtc)
    return record
  }
}
