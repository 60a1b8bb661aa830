import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { withSpan } from '../lib/observability/call-trace.ts'
import type { Store } from '../store/database.ts'
import { findDeletions, type DeletionRecord } from '../store/gallery/deletions.ts'
import { findFaces } from '../store/gallery/faces.ts'
import {
  findGallery,
  findGallerySize,
  lockGallery,
  listGalleryKeys,
} from '../store/gallery/galleries.ts'
import type { GallerySize } from '../store/gallery/galleries.ts'
import { listGroups } from '../store/gallery/groups.ts'
import { findFirstAccountId, findIdentifyThreshold } from '../store/tenancy/projects.ts'
import type { SubjectRow } from '../store/schema.ts'
import { findProjectSwitches } from '../store/tenancy/projects.ts'
import type { ProjectSwitches } from '../store/tenancy/switches.ts'
import {
  findSubject,
  findSubjects,
  findSubjectsInGroup,
  touchSubjects,
} from '../store/gallery/subjects.ts'
import type { SubjectLookup } from '../store/gallery/subjects.ts'
import type { ReadTx, Tx } from '../store/tx.ts'
import type { Template } from '../vision/image-analysis.ts'
import { addFace, createSubject } from './enroll.ts'
import type { EnrollLimits, FaceToEnroll, NewSubject, SubjectOwner } from './enroll.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import { matchSubject, matchTemplates, modelsOfSubject } from './match.ts'
import type { FaceMatchScore, MatchScore } from './match.ts'
import { createLoadSubjectDetails, type LoadSubjectDetails } from './subject-details.ts'
import { createMasterKeyFile, openKeyring, type Keyring } from './keys/keyring.ts'
import { matchChangedSince, type ChangedSinceQuery } from './match-changed-since.ts'
import { createDecryptStoredTemplate } from './keys/decrypt-stored-template.ts'
import { createReEmbed, type ReEmbed } from './re-embed/re-embed.ts'
import { deleteSubjects } from './deletion/delete-subjects.ts'
import { deleteSubject } from './deletion/delete-subject.ts'
import { overdueSubjects } from './overdue-subjects.ts'
import type { GallerySearch, OpenGallerySearch } from './search/gallery-search.ts'
import type { SearchOptions } from './search/scored-subject.ts'
import { searchAcrossModels, type SearchHit } from './search/search-across-models.ts'
import { autoThreshold, matchLevelOf } from './calibration/similarity.ts'
import type { MatchLevel } from './calibration/similarity.ts'
import { createSubjectKeys, unwrapGalleryKey, type SubjectKeys } from './keys/subject-keys.ts'
import { updateSubject, type SubjectUpdate } from './update-subject.ts'

/** The memory of faces. What takes a `Tx` belongs into the transaction that ends a call. */
export type Gallery = {
  /** Searches all that is committed: the subjects most like the probe, best first. */
  readonly search: (
    galleryId: string,
    probes: readonly Template[],
    options: SearchOptions,
  ) => Promise<SearchHit[]>
  /** Number of the gallery's last change: searches from now on have seen it. */
  readonly sequence: (reading: ReadTx, galleryId: string) => Promise<number>
  /** How alike the subjects are whose faces have changed since a search may have looked. */
  readonly matchChangedSince: (reading: ReadTx, since: ChangedSinceQuery) => Promise<SearchHit[]>
  /**
   * Models beside the active one that a probe is to be described by as well, for nobody to be
   * missed: those by which faces of the gallery are compared.
   */
  readonly formerModels: (galleryId: string) => Promise<readonly string[]>
  /** The same for one subject's faces; and whether it has templates of the active model. */
  readonly modelsOf: (reading: ReadTx, subject: SubjectRow) => Promise<SubjectModels>
  /** Faces of the gallery that compare with templates of these models, and those that do not. */
  readonly countComparable: (
    galleryId: string,
    modelIds: readonly string[],
  ) => Promise<ComparableCounts>
  /** Asks of one moment's state. */
  readonly read: Store['read']
  readonly size: (reading: ReadTx, galleryId: string) => Promise<GallerySize>
  readonly find: (
    reading: ReadTx,
    galleryId: string,
    name: SubjectLookup,
  ) => Promise<SubjectRow | undefined>
  readonly loadSubjectDetails: LoadSubjectDetails
  /**
   * The face of a subject that is most like the probe; undefined when none compares.
   *
   * @param probes the probe as each model describes it.
   */
  readonly matchSubject: (
    reading: ReadTx,
    subject: SubjectRow,
    probes: readonly Template[],
  ) => Promise<FaceMatchScore | undefined>
  readonly compare: (a: Template, b: Template) => MatchScore
  readonly matchLevelOf: (similarity: number) => MatchLevel
  /** The threshold for a gallery of so many subjects. */
  readonly autoThreshold: (subjectCount: number) => number
  /** The threshold that a project has set for all its searches; null where it has none. */
  readonly projectThreshold: (reading: ReadTx, projectId: string) => Promise<number | null>
  /** What a project has switched on. */
  readonly switches: (reading: ReadTx, projectId: string) => Promise<ProjectSwitches>
  /** Comes before everything that an effect asks or writes: alone to change, together to name. */
  readonly lock: typeof lockGallery
  readonly create: (tx: Tx, owner: SubjectOwner, subject: NewSubject) => Promise<SubjectRow>
  /** @throws ActionError TEMPLATE_LIMIT_REACHED or GALLERY_FULL. */
  readonly addFace: (tx: Tx, subject: SubjectRow, face: FaceToEnroll) => Promise<string>
  readonly update: (tx: Tx, subject: SubjectRow, update: SubjectUpdate) => Promise<SubjectRow>
  readonly remove: (tx: Tx, subject: SubjectRow) => Promise<DeletionRecord>
  /** Notes that subjects were met. */
  readonly touch: (tx: Tx, subjectIds: readonly string[]) => Promise<void>
  /** After a deletion was committed: nothing of it stays in memory or in the database's files. */
  readonly purge: (galleryId: string) => Promise<void>
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
  readonly maintain: GallerySearch['maintain']
  /** Makes templates of the active model of all stored crops. */
  readonly reEmbed: ReEmbed
}

export type ComparableCounts = { readonly count: number; readonly otherCount: number }

export type SubjectModels = { readonly former: readonly string[]; readonly hasActive: boolean }

export type { SearchHit }

export type GalleryOptions = EnrollLimits & {
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
  const decryptStored = createDecryptStoredTemplate(keys, log)
  const search = await openSearch({ store, keys, decryptStored, calibrations, log })
  const writing = writeOperations(keys, search, options)
  const comparing = { decryptStored, calibrations }
  return {
    ...readOperations(store),
    ...writing,
    ...deleteOperations(writing.remove, search, options),
    ...modelOperations(search, calibrations),
    matchLevelOf,
    autoThreshold,
    projectThreshold: findIdentifyThreshold,
    switches: findProjectSwitches,
    loadSubjectDetails: createLoadSubjectDetails(calibrations),
    compare: (a, b) => matchTemplates(a, b, calibrations),
    matchSubject: (reading, subject, probes) => matchSubject(reading, subject, probes, comparing),
    matchChangedSince: (reading, since) => matchChangedSince(reading, since, comparing),
    search: (galleryId, probes, wanted) =>
      withSpan('gallery.search', () =>
        searchAcrossModels({ search, calibrations }, galleryId, probes, wanted),
      ),
    maintain: search.maintain,
    reEmbed: createReEmbed({ store, keys, decryptStored, calibrations, search, log }),
  }
}

function modelOperations(
  search: GallerySearch,
  calibrations: Calibrations,
): Pick<Gallery, 'formerModels' | 'modelsOf' | 'countComparable'> {
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
      return { former, hasActive: modelIds.has(activeModelId) }
    },
    countComparable: async (galleryId, modelIds) => {
      const sizes = modelIds.map((modelId) => search.size(galleryId, modelId))
      const [all, ...counts] = await Promise.all([search.size(galleryId), ...sizes])
      const count = counts.reduce((sum, one) => sum + one, 0)
      return { count, otherCount: all - count }
    },
  }
}

async function openKeys({ store, masterKeyFile }: GalleryOptions): Promise<Keyring> {
  const wrapped = await store.read(listGalleryKeys)
  // A second server that made a key of its own would not read what the first one writes.
  const isFirst =
    !store.isShared || (store.isFirstServer && (await findFirstAccountId(store.db)) === undefined)
  if (wrapped.length === 0 && isFirst) createMasterKeyFile(masterKeyFile)
  const keyring = openKeyring(masterKeyFile)
  for (const key of wrapped) unwrapGalleryKey(keyring, key)
  return keyring
}

function readOperations(store: Store) {
  return {
    read: store.read,
    lock: lockGallery,
    size: findGallerySize,
    sequence: async (reading: ReadTx, galleryId: string) =>
      (await findGallery(reading, galleryId))?.sequence ?? 0,
    find: findSubject,
    list: findSubjects,
    listFaces: findFaces,
    listGroups,
    listDeletions: findDeletions,
  }
}

function writeOperations(
  keys: SubjectKeys,
  { storeVector: remember }: GallerySearch,
  options: GalleryOptions,
): Pick<Gallery, 'create' | 'addFace' | 'update' | 'remove' | 'touch'> {
  const nowUtc = (): string => new Date(options.clock()).toISOString()
  return {
    create: (tx, owner, subject) =>
      createSubject(tx, keys, owner, { ...subject, nowUtc: nowUtc() }),
    addFace: (tx, subject, face) =>
      addFace(tx, subject, face, { ...options, keys, storeVector: remember, nowUtc: nowUtc() }),
    update: (tx, subject, update) => updateSubject(tx, subject, update, nowUtc()),
    remove: (tx, subject) => deleteSubject(tx, subject, nowUtc()),
    touch: (tx, subjectIds) => touchSubjects(tx, subjectIds, nowUtc()),
  }
}

/** Subjects looked up at once on the way to an empty gallery. */
const clearBatchSize = 50

function deleteOperations(
  remove: Gallery['remove'],
  { sync: follow }: GallerySearch,
  { store, retentionDays, clock, log }: GalleryOptions,
): Pick<Gallery, 'purge' | 'removeGroup' | 'clear' | 'sweep'> {
  const purge: Gallery['purge'] = async (galleryId) => {
    try {
      await follow(galleryId)
      if (!(await store.checkpoint())) log.info('a reader keeps the write-ahead log from emptying')
    } catch (error) {
      log.error({ err: error, galleryId }, 'what was deleted is not cleared from memory yet')
    }
  }
  const deleting = { store, remove, purge }
  return {
    purge,
    removeGroup: (galleryId, name) =>
      deleteSubjects(deleting, (reading) => findSubjectsInGroup(reading, galleryId, name)),
    clear: (galleryId) =>
      deleteSubjects(deleting, (reading) =>
        findSubjects(reading, { galleryId, limit: clearBatchSize }),
      ),
    sweep: async () => {
      const overdue = (reading: ReadTx) => overdueSubjects(reading, clock(), retentionDays)
      return (await deleteSubjects(deleting, overdue)).length
    },
  }
}
