import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { span } from '../lib/trace.ts'
import type { Store } from '../store/database.ts'
import { findDeletions, type DeletionRecord } from '../store/deletions.ts'
import { findFaces } from '../store/faces.ts'
import { findGallery, gallerySize, holdGallery, listGalleryKeys } from '../store/galleries.ts'
import type { GallerySize } from '../store/galleries.ts'
import { listGroups } from '../store/groups.ts'
import { firstAccountId, identifyThresholdOf } from '../store/projects.ts'
import type { SubjectRow } from '../store/schema.ts'
import { switchesOfProject, type Switches } from '../store/switches.ts'
import { findSubject, findSubjects, subjectsOfGroup, touchSubjects } from '../store/subjects.ts'
import type { SubjectName } from '../store/subjects.ts'
import type { Reading, Tx } from '../store/tx.ts'
import type { Template } from '../vision/view.ts'
import { addFace, createSubject } from './add.ts'
import type { AddLimits, NewFace, NewSubject, Owner } from './add.ts'
import type { Calibrations } from './calibrations.ts'
import { bestOfSubject, likenessOf, modelsOfSubject } from './compare.ts'
import type { FaceLikeness, Likeness } from './compare.ts'
import { createDescribe, type DescribeSubjects } from './describe.ts'
import { createKeyFile, openKeyring, type Keyring } from './keyring.ts'
import { newcomersSince, type Since } from './newcomers.ts'
import { createOpener } from './opener.ts'
import { createRemake, type Remake } from './remake.ts'
import { removeAll } from './remove-all.ts'
import { deleteSubject } from './remove.ts'
import { overdueSubjects } from './retention.ts'
import type { GallerySearch, OpenGallerySearch } from './search/gallery-search.ts'
import type { SearchOptions } from './search/candidate.ts'
import { searchModels, type Hit } from './search-models.ts'
import { autoThreshold, matchLevelOf } from './similarity.ts'
import type { MatchLevel } from './similarity.ts'
import { createSubjectKeys, openGalleryKey, type SubjectKeys } from './subject-keys.ts'
import { updateSubject, type SubjectUpdate } from './update.ts'

/** The memory of faces. What takes a `Tx` belongs into the transaction that ends a call. */
export type Gallery = {
  /** Searches all that is committed: the subjects most like the probe, best first. */
  readonly search: (
    galleryId: string,
    probes: readonly Template[],
    options: SearchOptions,
  ) => Promise<Hit[]>
  /** Number of the gallery's last change: searches from now on have seen it. */
  readonly sequence: (reading: Reading, galleryId: string) => Promise<number>
  /** How alike the subjects are whose faces have changed since a search may have looked. */
  readonly newcomers: (reading: Reading, since: Since) => Promise<Hit[]>
  /**
   * Models beside the active one that a probe is to be described by as well, for nobody to be
   * missed: those by which faces of the gallery are compared.
   */
  readonly formerModels: (galleryId: string) => Promise<readonly string[]>
  /** The same for one subject's faces; and whether it has templates of the active model. */
  readonly modelsOf: (reading: Reading, subject: SubjectRow) => Promise<SubjectModels>
  /** Faces of the gallery that compare with templates of these models, and those that do not. */
  readonly comparable: (galleryId: string, modelIds: readonly string[]) => Promise<Comparable>
  /** Asks of one moment's state. */
  readonly read: Store['read']
  readonly size: (reading: Reading, galleryId: string) => Promise<GallerySize>
  readonly find: (
    reading: Reading,
    galleryId: string,
    name: SubjectName,
  ) => Promise<SubjectRow | undefined>
  readonly describe: DescribeSubjects
  /**
   * The face of a subject that is most like the probe; undefined when none compares.
   *
   * @param probes the probe as each model describes it.
   */
  readonly best: (
    reading: Reading,
    subject: SubjectRow,
    probes: readonly Template[],
  ) => Promise<FaceLikeness | undefined>
  readonly compare: (a: Template, b: Template) => Likeness
  readonly levelOf: (similarity: number) => MatchLevel
  /** The threshold for a gallery of so many subjects. */
  readonly autoThreshold: (subjectCount: number) => number
  /** The threshold that a project has set for all its searches; null where it has none. */
  readonly projectThreshold: (reading: Reading, projectId: string) => Promise<number | null>
  /** What a project has switched on. */
  readonly switches: (reading: Reading, projectId: string) => Promise<Switches>
  /** Comes before everything that an effect asks or writes: alone to change, together to name. */
  readonly hold: typeof holdGallery
  readonly create: (tx: Tx, owner: Owner, subject: NewSubject) => Promise<SubjectRow>
  /** @throws ActionError TEMPLATE_LIMIT_REACHED or GALLERY_FULL. */
  readonly addFace: (tx: Tx, subject: SubjectRow, face: NewFace) => Promise<string>
  readonly update: (tx: Tx, subject: SubjectRow, update: SubjectUpdate) => Promise<SubjectRow>
  readonly remove: (tx: Tx, subject: SubjectRow) => Promise<DeletionRecord>
  /** Notes that subjects were met. */
  readonly touch: (tx: Tx, subjectIds: readonly string[]) => Promise<void>
  /** After a deletion was committed: nothing of it stays in memory or in the database's files. */
  readonly forget: (galleryId: string) => Promise<void>
  readonly list: typeof findSubjects
  readonly listFaces: typeof findFaces
  readonly listGroups: typeof listGroups
  readonly listDeletions: typeof findDeletions
  /** Deletes every subject of a group, some at a time. @returns the records; none, no group. */
  readonly removeGroup: (galleryId: string, name: string) => Promise<DeletionRecord[]>
  /** Deletes every subject of the gallery, some at a time. @returns the records. */
  readonly clear: (galleryId: string) => Promise<DeletionRecord[]>
  /** Deletes subjects whose time is over. @returns how many. */
  readonly sweep: () => Promise<number>
  /** What the search has to do now and then; ends early when the signal fires. */
  readonly tend: GallerySearch['tend']
  /** Makes templates of the active model of all stored crops. */
  readonly remake: Remake
}

export type Comparable = { readonly count: number; readonly others: number }

export type SubjectModels = { readonly former: readonly string[]; readonly isActive: boolean }

export type { Hit }

export type GalleryOptions = AddLimits & {
  readonly store: Store
  /** Where templates are searched. */
  readonly openSearch: OpenGallerySearch
  readonly calibrations: Calibrations
  readonly masterKeyFile: string
  /** For projects without a retention of their own. */
  readonly retentionDays: number
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/**
 * Opens the galleries and their search. The first start makes the master key.
 *
 * @throws Error when the master key's file is readable by others, or is not the one that the
 *   database was written with.
 */
export async function openGallery(options: GalleryOptions): Promise<Gallery> {
  const { store, openSearch, calibrations, clock, log } = options
  const keys = createSubjectKeys(await openKeys(options), clock)
  const openStored = createOpener(keys, log)
  const search = await openSearch({ store, keys, openStored, calibrations, log })
  const writing = writes(keys, search, options)
  const comparing = { openStored, calibrations }
  return {
    ...reads(store),
    ...writing,
    ...deletes(writing.remove, search, options),
    ...models(search, calibrations),
    levelOf: matchLevelOf,
    autoThreshold,
    projectThreshold: identifyThresholdOf,
    switches: switchesOfProject,
    describe: createDescribe(calibrations),
    compare: (a, b) => likenessOf(a, b, calibrations),
    best: (reading, subject, probes) => bestOfSubject(reading, subject, probes, comparing),
    newcomers: (reading, since) => newcomersSince(reading, since, comparing),
    search: (galleryId, probes, wanted) =>
      span('gallery.search', () =>
        searchModels({ search, calibrations }, galleryId, probes, wanted),
      ),
    tend: search.tend,
    remake: createRemake({ store, keys, openStored, calibrations, search, log }),
  }
}

function models(
  search: GallerySearch,
  calibrations: Calibrations,
): Pick<Gallery, 'formerModels' | 'modelsOf' | 'comparable'> {
  const { activeModelId, formerModelIds } = calibrations
  return {
    formerModels: async (galleryId) => {
      const sizes = formerModelIds.map((modelId) => search.size(galleryId, modelId))
      const counts = await Promise.all(sizes)
      return formerModelIds.filter((_, at) => (counts[at] ?? 0) > 0)
    },
    modelsOf: async (reading, { subjectId }) => {
      const modelIds = new Set(await modelsOfSubject(reading, subjectId, calibrations))
      const former = formerModelIds.filter((modelId) => modelIds.has(modelId))
      return { former, isActive: modelIds.has(activeModelId) }
    },
    comparable: async (galleryId, modelIds) => {
      const sizes = modelIds.map((modelId) => search.size(galleryId, modelId))
      const [all, ...counts] = await Promise.all([search.size(galleryId), ...sizes])
      const count = counts.reduce((sum, one) => sum + one, 0)
      return { count, others: all - count }
    },
  }
}

async function openKeys({ store, masterKeyFile }: GalleryOptions): Promise<Keyring> {
  const wrapped = await store.read(listGalleryKeys)
  // A second server that made a key of its own would not read what the first one writes.
  const isFirst =
    !store.isShared || (store.isFirst && (await firstAccountId(store.db)) === undefined)
  if (wrapped.length === 0 && isFirst) createKeyFile(masterKeyFile)
  const keyring = openKeyring(masterKeyFile)
  for (const key of wrapped) openGalleryKey(keyring, key)
  return keyring
}

function reads(store: Store) {
  return {
    read: store.read,
    hold: holdGallery,
    size: gallerySize,
    sequence: async (reading: Reading, galleryId: string) =>
      (await findGallery(reading, galleryId))?.sequence ?? 0,
    find: findSubject,
    list: findSubjects,
    listFaces: findFaces,
    listGroups,
    listDeletions: findDeletions,
  }
}

function writes(
  keys: SubjectKeys,
  { remember }: GallerySearch,
  options: GalleryOptions,
): Pick<Gallery, 'create' | 'addFace' | 'update' | 'remove' | 'touch'> {
  const nowUtc = (): string => new Date(options.clock()).toISOString()
  return {
    create: (tx, owner, subject) =>
      createSubject(tx, keys, owner, { ...subject, nowUtc: nowUtc() }),
    addFace: (tx, subject, face) =>
      addFace(tx, subject, face, { ...options, keys, remember, nowUtc: nowUtc() }),
    update: (tx, subject, update) => updateSubject(tx, subject, update, nowUtc()),
    remove: (tx, subject) => deleteSubject(tx, subject, nowUtc()),
    touch: (tx, subjectIds) => touchSubjects(tx, subjectIds, nowUtc()),
  }
}

/** Subjects looked up at once on the way to an empty gallery. */
const clearedAtATime = 50

function deletes(
  remove: Gallery['remove'],
  { follow }: GallerySearch,
  { store, retentionDays, clock, log }: GalleryOptions,
): Pick<Gallery, 'forget' | 'removeGroup' | 'clear' | 'sweep'> {
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
    clear: (galleryId) =>
      removeAll(removing, (reading) => findSubjects(reading, { galleryId, limit: clearedAtATime })),
    sweep: async () => {
      const overdue = (reading: Reading) => overdueSubjects(reading, clock(), retentionDays)
      return (await removeAll(removing, overdue)).length
    },
  }
}
