import { setImmediate as nextTurn } from 'node:timers/promises'
import { mapInTurn } from '../lib/in-turn.ts'
import type { Store } from '../store/database.ts'
import { findGallery } from '../store/galleries.ts'
import { changesAfter, pastAllFaces, type ChangePlace } from '../store/faces.ts'
import { groupsOf } from '../store/groups.ts'
import type { Reading } from '../store/tx.ts'
import type { Calibrations } from './calibrations.ts'
import type { OpenStored } from './opener.ts'
import { preferredTemplate } from './preferred.ts'
import type { Change, ExactSearch } from './search/exact.ts'

export type FollowOptions = {
  readonly store: Pick<Store, 'read'>
  readonly search: ExactSearch
  readonly openStored: OpenStored
  readonly calibrations: Calibrations
}

/** Brings the memory of a gallery up to all that is committed at the moment of the call. */
export type Follow = (galleryId: string) => Promise<void>

/** Rows opened in one turn of the event loop: some three milliseconds. */
const rowsAtATime = 128

/**
 * Keeps the search's memory current: before each search it asks the store what is new. Whatever was
 * committed before a search began, that search sees. Of a face with templates of several models the
 * memory holds the one that it is to be compared by: changing the model makes nothing larger.
 */
export function createFollow(options: FollowOptions): Follow {
  const { store, search, openStored, calibrations } = options
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
    let place: ChangePlace = { sequence: reached.get(galleryId) ?? 0, faceId: pastAllFaces }
    for (;;) {
      const { sequence, changes } = await store.read((reading) => page(reading, galleryId, place))
      await search.apply(galleryId, changes)
      for (const { template } of changes) template?.vector.fill(0)
      const last = changes.at(-1)
      if (changes.length < rowsAtATime) return void reached.set(galleryId, sequence)
      if (last) place = { sequence: last.sequence, faceId: last.templateId }
      await nextTurn()
    }
  }

  async function page(reading: Reading, galleryId: string, place: ChangePlace) {
    const sequence = (await findGallery(reading, galleryId))?.sequence ?? 0
    const rows = await changesAfter(reading, galleryId, place, rowsAtATime)
    const subjectIds = rows.flatMap(({ face }) => (face ? [face.subjectId] : []))
    const groups = await groupsOf(reading, [...new Set(subjectIds)])
    const changes = await mapInTurn(rows, async ({ sequence, faceId, face }): Promise<Change> => {
      const stored = face && preferredTemplate(face.templates, calibrations)
      const template = stored && (await openStored(reading, stored))
      if (!template) return { sequence, templateId: faceId }
      const { subjectId } = stored
      const indexed = { ...template, subjectId, groups: groups.get(subjectId) ?? [] }
      return { sequence, templateId: faceId, template: indexed }
    })
    return { sequence, changes }
  }
}
