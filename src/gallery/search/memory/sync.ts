import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
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

/** Applies all changes of a gallery that were committed before the call to the index in memory. */
export type SyncGallery = (galleryId: string) => Promise<void>

/** Rows decrypted without yielding to the event loop: about three milliseconds. */
const rowBatchSize = 128

/**
 * Keeps the index in memory in sync with the store. It is called before each search, so a search
 * includes everything that was committed before it began. If a face has templates of several models,
 * the index holds the one by which it is compared, so a model change needs no additional memory.
 */
export function createSyncGallery(options: SyncOptions): SyncGallery {
  const { store, search } = options
  const syncedSequences = new Map<string, number>()
  const runningPulls = new Map<string, Promise<void>>()
  return async (galleryId) => {
    const committed = await store.read(
      async (reading) => (await findGallery(reading, galleryId))?.sequence ?? 0,
    )
    // A pull that began earlier may not include the last change: then another one follows.
    while ((syncedSequences.get(galleryId) ?? 0) < committed)
      await (runningPulls.get(galleryId) ?? startPull(galleryId))
  }

  function startPull(galleryId: string): Promise<void> {
    const running = pull(galleryId).finally(() => runningPulls.delete(galleryId))
    runningPulls.set(galleryId, running)
    return running
  }

  async function pull(galleryId: string): Promise<void> {
    let cursor: FaceChangeCursor = {
      sequence: syncedSequences.get(galleryId) ?? 0,
      faceId: afterAllFaceIds,
    }
    for (;;) {
      const { sequence, changes } = await store.read((reading) =>
        readPage(reading, galleryId, cursor, options),
      )
      await search.apply(galleryId, changes)
      for (const { template } of changes) template?.vector.fill(0)
      const last = changes.at(-1)
      if (changes.length < rowBatchSize) return void syncedSequences.set(galleryId, sequence)
      if (last) cursor = { sequence: last.sequence, faceId: last.faceId }
      await nextEventLoopTurn()
    }
  }
}

/** Reads the next changes and decrypts their templates. */
async function readPage(
  reading: ReadTx,
  galleryId: string,
  cursor: FaceChangeCursor,
  { decryptStored, calibrations }: SyncOptions,
) {
  const sequence = (await findGallery(reading, galleryId))?.sequence ?? 0
  const rows = await findFaceChanges(reading, galleryId, cursor, rowBatchSize)
  const subjectIds = rows.flatMap(({ face }) => (face ? [face.subjectId] : []))
  const groups = await findSubjectGroups(reading, [...new Set(subjectIds)])
  const changes = await mapSequential(
    rows,
    async ({ sequence, faceId, face }): Promise<IndexChange> => {
      const stored = face && selectTemplate(face.templates, calibrations)
      const template = stored && (await decryptStored(reading, stored))
      if (!template) return { sequence, faceId }
      const { subjectId, expiresAtUtc } = stored
      const expiresAtMs = expiresAtUtc === null ? undefined : Date.parse(expiresAtUtc)
      const indexed = { ...template, subjectId, groups: groups.get(subjectId) ?? [], expiresAtMs }
      return { sequence, faceId, template: indexed }
    },
  )
  return { sequence, changes }
}
