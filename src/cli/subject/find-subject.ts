import { formatUtc } from '../../lib/clock.ts'
import { isUuid } from '../../lib/ids.ts'
import type { ReadTx, Store } from '../../store/database.ts'
import { hasExpired } from '../../store/gallery/expired-subjects.ts'
import { findSubject } from '../../store/gallery/subjects.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import { galleryIdOf, type Project } from '../../store/tenancy/projects.ts'
import { requireProject, withStore } from '../with-store.ts'

/** Runs `work` on the gallery of a project. */
export function withProject<T>(
  idOrName: string,
  work: (store: Store, project: Project, galleryId: string) => Promise<T>,
): Promise<T> {
  return withStore(async (store) => {
    const project = await requireProject(store, idOrName)
    return work(store, project, galleryIdOf(project))
  })
}

/** Finds a subject by its subjectId or externalId. @throws Error when there is none. */
export async function requireSubject(
  reading: ReadTx,
  galleryId: string,
  text: string,
): Promise<SubjectRow> {
  const byId = isUuid(text) ? await findSubject(reading, galleryId, { subjectId: text }) : undefined
  const externalId = text.normalize('NFC')
  const found = byId ?? (await findSubject(reading, galleryId, { externalId }))
  if (found && !hasExpired(found, formatUtc(Date.now()))) return found
  throw new Error(`the gallery has no subject ${text}; facegate subject list prints its subjects`)
}

/** Must be passed as the log of a decryption: a change with unreadable data would not be complete. */
export function failForTampered(): never {
  throw new Error('stored data of a subject cannot be decrypted; nothing was changed or exported')
}
