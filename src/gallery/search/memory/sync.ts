import { setImmediate as nextTurn } from 'node:timers/promises'
import { mapSequential } from '../../../lib/map-sequential.ts'
import type { Store } from '../../../store/database.ts'
import { findGallery } from '../../../store/gallery/galleries.ts'
import {
  findFaceChanges,
  afterAllFaceIds,
  type FaceChangeCursor,
} from '../../../store/gallery/faces.ts'
import { findSubjectGroups } from '../../../store/gallery/groups.ts'
import type { ReadTx } from '../../../store/tx.ts'
import type { Calibrations } from '../../calibration/calibrations.ts'
import type { DecryptStoredTemplate } from '../../keys/decrypt-stored-template.ts'
import { selectTemplate } from '../../select-template.ts'
import type { ExactSearch } from './exact-search.ts'
import type { IndexChange } from './index-change.ts'

export type SyncOptions = {
  readonly store: Pick<Store, 'read'>
  readonly search: ExactSearch
  readonly decryptStored: DecryptStoredTemplate
  readonly calibrations: Calibrations
}

/** Brings the memory of a gallery up to all that is committed at the moment of the call. */
export type SyncGallery = (galleryId: string) => Promise<void>

/** Rows opened in one turn of the event loop: some three milliseconds. */
const rowBatchSize = 128

/**
 * Keeps the search's memory current: before each search it asks the store what is new. Whatever was
 * committed before a search began, that search sees. Of a face with templates of several models the
 * memory holds the one that it is to be compared by: changing the model makes nothing larger.
 */
export function createSyncGallery(options: SyncOptions): SyncGallery {
  const { store, search, decryptStored: openStored, calibrations } = options
  const reached = new Map<string, number>()
  const running = new Map<string, Promise<void>>()
  return async (galleryId) => {
    const wanted = await store.read(
      async (reading) => (await findGallery(reading, galleryId))?.sequence ?? 0,
    )
    // A pull that had begun earlier may have missed the latest: then another one follows it.
    while ((reached.get(galleryId) ?? 0) < wanted)
      await (running.get(galleryId) ?? start(galleryId))
  }

  function start(galleryId: string): Promise<void> {
    const pulling = pull(galleryId).finally(() => running.delete(galleryId))
    running.set(galleryId, pulling)
    return pulling
  }

  async function pull(galleryId: string): Promise<void> {
    let place: FaceChangeCursor = { sequence: reached.get(galleryId) ?? 0, faceId: afterAllFaceIds }
    for (;;) {
      const { sequence, changes } = await store.read((reading) => page(reading, galleryId, place))
      await search.apply(galleryId, changes)
      for (const { template } of changes) template?.vector.fill(0)
      const last = changes.at(-1)
      if (changes.length < rowBatchSize) return void reached.set(galleryId, sequence)
      if (last) place = { sequence: last.sequence, faceId: last.templateId }
      await nextTurn()
    }
  }

  async function page(reading: ReadTx, galleryId: string, place: FaceChangeCursor) {
    const sequence = (await findGallery(reading, galleryId))?.sequence ?? 0
    const rows = await findFaceChanges(reading, galleryId, place, rowBatchSize)
    const subjectIds = rows.flatMap(({ face }) => (face ? [face.subjectId] : []))
    const groups = await findSubjectGroups(reading, [...new Set(subjectIds)])
    const changes = await mapSequential(
      rows,
      async ({ sequence, faceId, face }): Promise<IndexChange> => {
        const stored = face && selectTemplate(face.templates, calibrations)
        const template = stored && (await openStored(reading, stored))
        if (!template) return { sequence, templateId: faceId }
        const { subjectId } = stored
        const indexed = { ...template, subjectId, groups: groups.get(subjectId) ?? [] }
        return { sequence, templateId: faceId, template: indexed }
      },
    )
    return { sequence, changes }
  }
}
