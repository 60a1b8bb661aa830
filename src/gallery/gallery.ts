import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/database.ts'
import { findDeletions, type DeletionRecord } from '../store/deletions.ts'
import { findGallery, gallerySize, listGalleryIds, listGalleryKeys } from '../store/galleries.ts'
import type { GallerySize } from '../store/galleries.ts'
import { listGroups, subjectIdsOfGroup } from '../store/groups.ts'
import type { SubjectRow } from '../store/schema.ts'
import { findSubject, findSubjects, touchSubjects, type SubjectName } from '../store/subjects.ts'
import { forgetRemovals, templatesOf } from '../store/templates.ts'
import type { Reading, Tx } from '../store/tx.ts'
import type { Template } from '../vision/view.ts'
import { addFace, createSubject } from './add.ts'
import type { AddLimits, NewFace, NewSubject, Owner } from './add.ts'
import { describeSubjects, type Subject } from './describe.ts'
import { createFollow, type Follow, type StoredTemplate } from './follow.ts'
import { createKeyFile, openKeyring, type Keyring } from './keyring.ts'
import { deleteSubject } from './remove.ts'
import { overdueSubjects } from './retention.ts'
import type { ExactSearch } from './search/exact.ts'
import { autoThreshold, matchLevelOf, scoreOf, similarityAt, similarityOf } from './similarity.ts'
import type { Calibration, MatchLevel } from './similarity.ts'
import { createSubjectKeys, openGalleryKey, type SubjectKeys } from './subject-keys.ts'
import { openTemplate } from './template-seal.ts'
import { updateSubject, type SubjectUpdate } from './update.ts'

/** The memory of faces. What takes a `Tx` belongs into the transaction that ends a call. */
export type Gallery = {
  /** Searches all that is committed: the subjects most like the probe, best first. */
  readonly search: (galleryId: string, probe: Template, options: HitOptions) => Promise<Hit[]>
  /** Asks of one moment's state. */
  readonly read: Store['read']
  readonly size: (reading: Reading, galleryId: string) => GallerySize
  readonly find: (reading: Reading, galleryId: string, name: SubjectName) => SubjectRow | undefined
  readonly describe: typeof describeSubjects
  /** The template of a subject that is most like the probe; undefined when none compares. */
  readonly best: (
    reading: Reading,
    subject: SubjectRow,
    probe: Template,
  ) => FaceLikeness | undefined
  readonly compare: (a: Template, b: Template) => Likeness
  readonly levelOf: (similarity: number) => MatchLevel
  /** The threshold for a gallery of so many subjects. */
  readonly autoThreshold: (subjectCount: number) => number
  readonly create: (tx: Tx, owner: Owner, subject: NewSubject) => SubjectRow
  /** @throws ActionError TEMPLATE_LIMIT_REACHED or GALLERY_FULL. */
  readonly addFace: (tx: Tx, subject: SubjectRow, face: NewFace) => string
  readonly update: (tx: Tx, subject: SubjectRow, update: SubjectUpdate) => SubjectRow
  readonly remove: (tx: Tx, subject: SubjectRow) => DeletionRecord
  /** Notes that subjects were met. */
  readonly touch: (tx: Tx, subjectIds: readonly string[]) => void
  /** After a deletion was committed: nothing of it stays in memory or in the database's files. */
  readonly forget: (galleryId: string) => Promise<void>
  readonly list: typeof findSubjects
  readonly listGroups: typeof listGroups
  readonly listDeletions: typeof findDeletions
  /** Deletes every subject of a group, some at a time. @returns the records; none, no group. */
  readonly removeGroup: (galleryId: string, name: string) => Promise<DeletionRecord[]>
  /** Deletes subjects whose time is over. @returns how many. */
  readonly sweep: () => Promise<number>
  readonly now: () => string
}

export type { Owner, Subject }

/** How alike two faces are: calibrated, and as measured. */
export type Likeness = { readonly similarity: number; readonly score: number }
export type FaceLikeness = Likeness & { readonly faceId: string }
export type Hit = FaceLikeness & { readonly subjectId: string }

export type HitOptions = {
  readonly limit: number
  /** Only subjects in one of these. */
  readonly groups?: readonly string[] | undefined
  readonly excludeSubjectId?: string | undefined
}

export type GalleryOptions = AddLimits & {
  readonly store: Store
  readonly search: ExactSearch
  readonly calibration: Calibration
  readonly masterKeyFile: string
  /** For projects without a retention of their own. */
  readonly retentionDays: number
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/**
 * Opens the galleries and fills the search's memory with them. The first start makes the master key.
 *
 * @throws Error when the master key's file is readable by others, or is not the one that the
 *   database was written with.
 */
export async function openGallery(options: GalleryOptions): Promise<Gallery> {
  const { store, search, calibration, retentionDays, clock, log } = options
  const nowUtc = (): string => new Date(clock()).toISOString()
  const keys = createSubjectKeys(await openKeys(options), clock)
  const openStored = createOpener(keys, log)
  const follow = createFollow({ store, search, openRow: openStored, log })
  await load(store, follow)
  const adding = (reading: Reading, galleryId: string) => ({
    ...options,
    keys,
    tenantId: findGallery(reading, galleryId)?.accountId ?? '',
    nowUtc: nowUtc(),
  })
  const gallery: Gallery = {
    read: store.read,
    size: gallerySize,
    find: findSubject,
    describe: describeSubjects,
    levelOf: matchLevelOf,
    autoThreshold,
    now: nowUtc,
    search: async (galleryId, probe, { limit, ...rest }) => {
      await follow(galleryId)
      const { modelId } = probe
      const found = await search.search(galleryId, probe, { ...rest, limit, modelId })
      return found.map(({ templateId, subjectId, score }) => {
        return {
          faceId: templateId,
          subjectId,
          score,
          similarity: similarityAt(score, calibration),
        }
      })
    },
    compare: (a, b) => likeness(a, b, calibration),
    best: (reading, subject, probe) => {
      const likenesses = templatesOf(reading, subject.subjectId).flatMap((row) => {
        const stored = openStored(reading, { ...row, ...subject, sequence: row.sequence })
        if (!stored || stored.modelId !== probe.modelId) return []
        return [{ faceId: row.faceId, ...likeness(probe, stored, calibration) }]
      })
      return likenesses.toSorted((a, b) => b.score - a.score)[0]
    },
    create: (tx, owner, subject) =>
      createSubject(tx, keys, owner, { ...subject, nowUtc: nowUtc() }),
    addFace: (tx, subject, face) => addFace(tx, subject, face, adding(tx, subject.galleryId)),
    update: (tx, subject, update) => updateSubject(tx, subject, update, nowUtc()),
    remove: (tx, subject) => deleteSubject(tx, subject, nowUtc()),
    touch: (tx, subjectIds) => touchSubjects(tx, subjectIds, nowUtc()),
    forget: async (galleryId) => {
      try {
        await follow(galleryId)
        if (!(await store.checkpoint()))
          log.info('a reader keeps the write-ahead log from emptying')
      } catch (error) {
        log.error(
          { err: error, galleryId },
          'what was deleted could not be cleared from memory yet',
        )
      }
    },
    list: findSubjects,
    listGroups,
    listDeletions: findDeletions,
    removeGroup: (galleryId, name) =>
      removeAll(gallery, store, (reading) =>
        subjectIdsOfGroup(reading, galleryId, name).flatMap(
          (subjectId) => findSubject(reading, galleryId, { subjectId }) ?? [],
        ),
      ),
    sweep: async () => {
      const overdue = (reading: Reading) => overdueSubjects(reading, clock(), retentionDays)
      return (await removeAll(gallery, store, overdue)).length
    },
  }
  return gallery
}

async function openKeys({ store, masterKeyFile }: GalleryOptions): Promise<Keyring> {
  const wrapped = await store.read(listGalleryKeys)
  if (wrapped.length === 0) createKeyFile(masterKeyFile)
  const keyring = openKeyring(masterKeyFile)
  for (const key of wrapped) openGalleryKey(keyring, key)
  return keyring
}

type OpenStored = (reading: Reading, row: StoredTemplate) => Template | undefined

/** A template that does not open was tampered with: an alert, and it matches nobody. */
function createOpener(keys: SubjectKeys, log: GalleryOptions['log']): OpenStored {
  return (reading, row) => {
    const { galleryId, subjectId, faceId } = row
    try {
      const tenantId = findGallery(reading, galleryId)?.accountId ?? ''
      return openTemplate(keys.open(reading, row), { ...row, tenantId }, row.sealed)
    } catch (error) {
      const where = { alert: 'template-tampered', galleryId, subjectId, faceId }
      log.error({ ...where, err: error }, 'a stored template does not open; it matches nobody')
      return undefined
    }
  }
}

/** At the start no memory is behind, so that nobody needs to be told of removals. */
async function load(store: Store, follow: Follow): Promise<void> {
  await store.write(forgetRemovals)
  for (const galleryId of await store.read(listGalleryIds)) await follow(galleryId)
}

function likeness(a: Template, b: Template, calibration: Calibration): Likeness {
  return { similarity: similarityOf(a, b, calibration), score: scoreOf(a, b) }
}

type Wanted = (reading: Reading) => readonly SubjectRow[]

/** Subjects deleted in one transaction, so that no call waits long behind it. */
const removedAtATime = 50

/** Deletes all subjects that `wanted` finds, asking again for each transaction. */
async function removeAll(gallery: Gallery, store: Store, wanted: Wanted) {
  const records: DeletionRecord[] = []
  const galleryIds = new Set<string>()
  // Most of the time there is nothing to do, and the writer is not bothered.
  for (let left = (await store.read(wanted)).length; left > 0;) {
    left = await store.write((tx) => {
      const subjects = wanted(tx)
      for (const subject of subjects.slice(0, removedAtATime)) {
        records.push(gallery.remove(tx, subject))
        galleryIds.add(subject.galleryId)
      }
      return Math.max(0, subjects.length - removedAtATime)
    })
  }
  for (const galleryId of galleryIds) await gallery.forget(galleryId)
  return records
}
