import { type SubjectKeys, createSubjectKeys, openKeyring } from '../../gallery/keys/keyring.ts'
import { formatUtc } from '../../lib/clock.ts'
import { masterKeyPath } from '../../start/store-location.ts'
import { lockGallery } from '../../store/gallery/galleries.ts'
import type { Tx } from '../../store/database.ts'
import { auditedChange } from '../audit/audited-change.ts'
import { readSettings } from '../read-settings.ts'
import { withProject } from './find-subject.ts'

type GalleryChangeContext = {
  readonly tx: Tx
  readonly galleryId: string
  readonly nowMs: number
  readonly nowUtc: string
}

type GalleryEntry<T> = {
  readonly result: T
  /** The subjectId for the entry in the audit log. */
  readonly target: string
  readonly detail: object
}

/** Changes a locked gallery in the transaction with its entry in the audit log. */
export function changeGallery<T>(
  idOrName: string,
  auditAction: string,
  change: (context: GalleryChangeContext) => Promise<GalleryEntry<T>>,
): Promise<T> {
  return withProject(idOrName, async (store, { projectId, accountId }, galleryId) => {
    const changed = await auditedChange(store, auditAction, async ({ tx, nowMs }) => {
      await lockGallery(tx, galleryId, 'exclusive')
      const entry = await change({ tx, galleryId, nowMs, nowUtc: formatUtc(nowMs) })
      return { ...entry, accountId, detail: { ...entry.detail, projectId } }
    })
    // The deleted rows leave the write-ahead log.
    await store.checkpoint()
    return changed
  })
}

/** The keys of the subjects, with the master key of the environment. */
export function openSubjectKeys(): SubjectKeys {
  return createSubjectKeys(openKeyring(masterKeyPath(readSettings())), Date.now)
}
