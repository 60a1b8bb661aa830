import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Store } from '../store/database.ts'
import { findGallery } from '../store/galleries.ts'
import { changesAfter, type ChangePlace, type TemplateChange } from '../store/templates.ts'
import type { Reading } from '../store/tx.ts'
import type { OpenStored } from './opener.ts'
import type { Change, ExactSearch } from './search/exact.ts'
import { groupsOf } from '../store/groups.ts'

export type StoredTemplate = NonNullable<TemplateChange['template']>

export type FollowOptions = {
  readonly store: Pick<Store, 'read'>
  readonly search: ExactSearch
  readonly openStored: OpenStored
}

/** Brings the memory of a gallery up to all that is committed at the moment of the call. */
export type Follow = (galleryId: string) => Promise<void>

/** Rows opened in one turn of the event loop: some three milliseconds. */
const rowsAtATime = 128

/**
 * Keeps the search's memory current: before each search it asks the store what is new. Whatever was
 * committed before a search began, that search sees.
 */
export function createFollow({ store, search, openStored }: FollowOptions): Follow {
  const reached = new Map<string, number>()
  const running = new Map<string, Promise<void>>()
  return async (galleryId) => {
    const wanted = await store.read((reading) => findGallery(reading, galleryId)?.sequence ?? 0)
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

  function page(reading: Reading, galleryId: string, place: ChangePlace) {
    const sequence = findGallery(reading, galleryId)?.sequence ?? 0
    const rows = changesAfter(reading, galleryId, place, rowsAtATime)
    const subjectIds = rows.flatMap(({ template }) => (template ? [template.subjectId] : []))
    const groups = groupsOf(reading, [...new Set(subjectIds)])
    const changes = rows.map((row): Change => {
      const { sequence, faceId, template: stored } = row
      const template = stored && openStored(reading, stored)
      if (!stored || !template) return { sequence, templateId: faceId }
      const { subjectId } = stored
      const indexed = { ...template, subjectId, groups: groups.get(subjectId) ?? [] }
      return { sequence, templateId: faceId, template: indexed }
    })
    return { sequence, changes }
  }
}

/** After every id of the change that was reached. */
const pastAllFaces = '\u{10FFFF}'
