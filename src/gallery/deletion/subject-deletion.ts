import { newId } from '../../lib/ids.ts'
import { scrubResponses } from '../../store/gate/stored-responses.ts'
import { addDeletion, type DeletionRecord } from '../../store/gallery/deletions.ts'
import { findSubjectFaces, removeFaces } from '../../store/gallery/faces.ts'
import { recordGalleryChange, findGallery } from '../../store/gallery/galleries.ts'
import { findSubjectGroups } from '../../store/gallery/groups.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import { removeSubject } from '../../store/gallery/subjects.ts'
import type { Tx } from '../../store/database.ts'

/** Deletes a subject with all its data and adds a deletion record. */
export async function deleteSubject(
  tx: Tx,
  subject: SubjectRow,
  nowUtc: string,
): Promise<DeletionRecord> {
  const { subjectId, galleryId, externalId } = subject
  const record: DeletionRecord = {
    deletionId: newId(),
    subjectId,
    tenantId: (await findGallery(tx, galleryId))?.accountId ?? '',
    groups: [...((await findSubjectGroups(tx, [subjectId])).get(subjectId) ?? [])],
    externalId,
    embeddingCount: await eraseSubject(tx, subject),
    deletedAtUtc: nowUtc,
  }
  await addDeletion(tx, galleryId, record)
  return record
}

/**
 * Deletes the subject's key, templates, crops, attributes and group links, and removes its data from
 * stored responses. Adds no deletion record.
 *
 * @returns the number of deleted faces.
 */
export async function eraseSubject(
  tx: Tx,
  { subjectId, galleryId }: Pick<SubjectRow, 'subjectId' | 'galleryId'>,
): Promise<number> {
  const faceIds = (await findSubjectFaces(tx, subjectId)).map(({ faceId }) => faceId)
  const sequence = await recordGalleryChange(tx, {
    galleryId,
    subjects: -1,
    faces: -faceIds.length,
  })
  await removeFaces(tx, { galleryId, subjectId, sequence }, faceIds)
  await removeSubject(tx, subjectId)
  await scrubResponses(tx, subjectId)
  return faceIds.length
}
