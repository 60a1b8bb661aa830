import type { Caller, Services } from '../../actions/action.ts'
import { isUuid } from '../../lib/ids.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import type { ReadTx } from '../../store/database.ts'

/** Returns the CompreFace name of a subject: its externalId, or its subjectId if it has none. */
export function subjectName(subject: Pick<SubjectRow, 'externalId' | 'subjectId'>): string {
  return subject.externalId ?? subject.subjectId
}

/** Finds a subject of the caller's gallery by its CompreFace name, in any Unicode encoding. */
export async function findSubjectByName(
  { subjects }: Pick<Services, 'subjects'>,
  reading: ReadTx,
  { galleryId }: Pick<Caller, 'galleryId'>,
  name: string,
): Promise<SubjectRow | undefined> {
  const subject = await subjects.find(reading, galleryId, { externalId: name.normalize('NFC') })
  if (subject || !isUuid(name)) return subject
  const unnamed = await subjects.find(reading, galleryId, { subjectId: name })
  return unnamed?.externalId === null ? unnamed : undefined
}
