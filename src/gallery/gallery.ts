import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/database.ts'
import { findDeletions, type DeletionRecord } from '../store/deletions.ts'
import { gallerySize, listGalleryIds, listGalleryKeys } from '../store/galleries.ts'
import type { GallerySize } from '../store/galleries.ts'
import { listGroups } from '../store/groups.ts'
import { identifyThresholdOf } from '../store/projects.ts'
import type { SubjectRow } from '../store/schema.ts'
import { findSubject, findSubjects, subjectsOfGroup, touchSubjects } from '../store/subjects.ts'
import type { SubjectName } from '../store/subjects.ts'
import { forgetRemovals } from '../store/templates.ts'
import type { Reading, Tx } from '../store/tx.ts'
import type { Template } from '../vision/view.ts'
import { addFace, createSubject } from './add.ts'
import type { AddLimits, NewFace, NewSubject, Owner } from './add.ts'
import { bestOfSubject, likenessOf, type FaceLikeness, type Likeness } from './compare.ts'
import { describeSubjects } from './describe.ts'
import { createFollow, type Follow } from './follow.ts'
import { createKeyFile, openKeyring, type Keyring } from './keyring.ts'
import { createOpener } from './opener.ts'
import { removeAll } from './remove-all.ts'
import { deleteSubject } from './remove.ts'
import { overdueSubjects } from './retention.ts'
import type { ExactSearch } from './search/exact.ts'
import { autoThreshold, matchLevelOf, similarityAt } from './similarity.ts'
import type { Calibration, MatchLevel } from './similarity.ts'
import { createSubjectKeys, openGalleryKey, type SubjectKeys } from './subject-keys.ts'
import { updateSubject, type SubjectUpdate } from './update.ts'

/** The memory of faces. What takes a `Tx` belongs into the transaction that ends a call. */
export type Gallery = {
  /** Searches all that is committed: the subjects most like the probe, best first. */
  readonly search: (galleryId: string, probe: Template, options: HitOptions) => Promise<Hit[]>
  /** Templates in memory that compare with those of the model, and those of other models. */
  readonly comparable: (galleryId: string, modelId: string) => Comparable
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
  /** The threshold that a project has set for all its searches; null where it has none. */
  readonly projectThreshold: (reading: Reading, projectId: string) => number | null
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
}

export type Hit = FaceLikeness & { readonly subjectId: string }

export type Comparable = { readonly count: number; readonly others: number }

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
  const { store, search, calibration, clock, log } = options
  const keys = createSubjectKeys(await openKeys(options), clock)
  const openStored = createOpener(keys, log)
  const follow = createFollow({ store, search, openStored })
  await load(store, follow)
  const writing = writes(keys, options)
  return {
    ...reads(store),
    ...writing,
    ...deletes(writing.remove, follow, options),
    levelOf: matchLevelOf,
    autoThreshold,
    projectThreshold: identifyThresholdOf,
    comparable: (galleryId, modelId) => {
      const count = search.size(galleryId, modelId)
      return { count, others: search.size(galleryId) - count }
    },
    compare: (a, b) => likenessOf(a, b, calibration),
    best: (reading, subject, probe) =>
      bestOfSubject(reading, subject, probe, { openStored, calibration }),
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
  }
}

async function openKeys({ store, masterKeyFile }: GalleryOptions): Promise<Keyring> {
  const wrapped = await store.read(listGalleryKeys)
  if (wrapped.length === 0) createKeyFile(masterKeyFile)
  const keyring = openKeyring(masterKeyFile)
  for (const key of wrapped) openGalleryKey(keyring, key)
  return keyring
}

/** At the start no memory is behind, so that nobody needs to be told of removals. */
async function load(store: Store, follow: Follow): Promise<void> {
  await store.write(forgetRemovals)
  for (const galleryId of await store.read(listGalleryIds)) await follow(galleryId)
}

function reads(store: Store) {
  return {
    read: store.read,
    size: gallerySize,
    find: findSubject,
    describe: describeSubjects,
    list: findSubjects,
    listGroups,
    listDeletions: findDeletions,
  }
}

function writes(
  keys: SubjectKeys,
  options: GalleryOptions,
): Pick<Gallery, 'create' | 'addFace' | 'update' | 'remove' | 'touch'> {
  const nowUtc = (): string => new Date(options.clock()).toISOString()
  return {
    create: (tx, owner, subject) =>
      createSubject(tx, keys, owner, { ...subject, nowUtc: nowUtc() }),
    addFace: (tx, subject, face) =>
      addFace(tx, subject, face, { ...options, keys, nowUtc: nowUtc() }),
    update: (tx, subject, update) => updateSubject(tx, subject, update, nowUtc()),
    remove: (tx, subject) => deleteSubject(tx, subject, nowUtc()),
    touch: (tx, subjectIds) => touchSubjects(tx, subjectIds, nowUtc()),
  }
}

function deletes(
  remove: Gallery['remove'],
  follow: Follow,
  { store, retentionDays, clock, log }: GalleryOptions,
): Pick<Gallery, 'forget' | 'removeGroup' | 'sweep'> {
  const forget: Gallery['forget'] = async (galleryId) => {
    try {
      await follow(galleryId)
      if (!(await store.checkpoint())) log.info('a reader keeps the write-ahead log from emptying')
    } catch (error) {
      log.error({ err: error, galleryId }, 'what was deleted is not cleared from memory yet')
    }
  }
  const removing = { store, remove, forget }
  return {
    forget,
    removeGroup: (galleryId, name) =>
      removeAll(removing, (reading) => subjectsOfGroup(reading, galleryId, name)),
    sweep: async () => {
      const overdue = (reading: Reading) => overdueSubjects(reading, clock(), retentionDays)
      return (await removeAll(removing, overdue)).length
    },
  }
}
