import type { Caller, Services } from '../../actions/action.ts'
import { isUuid } from '../../lib/ids.ts'
import type { SubjectRow } from '../../store/schema.ts'
import type { ReadTx } from '../../store/tx.ts'

/** What CompreFace calls a subject: its externalId; its subjectId where it has none. */
export function subjectName(one: Pick<SubjectRow, 'externalId' | 'subjectId'>): string {
  return one.externalId ?? one.subjectId
}

/** The subject of that name in the gallery of the caller. */
export async function findSubjectByName(
  { gallery }: Pick<Services, 'gallery'>,
  reading: ReadTx,
  { galleryId }: Pick<Caller, 'galleryId'>,
  name: string,
): Promise<SubjectRow | undefined> {
  const found = await gallery.find(reading, galleryId, { externalId: name })
  if (found || !isUuid(name)) return found
  const unnamed = await gallery.find(reading, galleryId, { subjectId: name })
  return unnamed?.externalId === null ? unnamed : undefined
}
