import { formatUtc } from '../lib/clock.ts'
import { ActionError } from '../lib/errors.ts'
import { hasExpired } from '../store/gallery/expired-subjects.ts'
import { findSubject } from '../store/gallery/subjects.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import type { Tx } from '../store/database.ts'
import { deleteSubject } from './deletion/subject-deletion.ts'

/** @throws ActionError INVALID_REQUEST unless the time, if there is one, is in the future. */
export function requireFutureExpiry(expiresAtUtc: string | null | undefined, nowMs: number): void {
  if (!expiresAtUtc || Date.parse(expiresAtUtc) > nowMs) return
  throw new ActionError(
    'INVALID_REQUEST',
    `params.expiresAtUtc: must be after ${formatUtc(nowMs)}, the current time of the service`,
  )
}

/**
 * Returns the subject that has an external id. An expired one is deleted instead, with a deletion
 * record, so that another subject can have the id.
 *
 * @param onDeleted is called after the deletion of an expired subject, in the same transaction.
 */
export async function findExternalIdHolder(
  tx: Tx,
  { galleryId, externalId }: { readonly galleryId: string; readonly externalId: string },
  { nowUtc, onDeleted }: { readonly nowUtc: string; readonly onDeleted: OnExpiredDeleted },
): Promise<SubjectRow | undefined> {
  const holder = await findSubject(tx, galleryId, { externalId })
  if (!holder || !hasExpired(holder, nowUtc)) return holder
  await deleteSubject(tx, holder, nowUtc)
  await onDeleted(tx, holder, nowUtc)
  return undefined
}

export type OnExpiredDeleted = (tx: Tx, subject: SubjectRow, nowUtc: string) => Promise<void> | void
