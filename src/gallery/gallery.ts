import { type Clock, formatUtc } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/database.ts'
import { countDeletions, findDeletions, type DeletionRecord } from '../store/gallery/deletions.ts'
import type { findFaces } from '../store/gallery/faces.ts'
import { findGallery, lockGallery, type GallerySize } from '../store/gallery/galleries.ts'
import type { listGroups } from '../store/gallery/groups.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import { findIdentifyThreshold, findProjectSwitches } from '../store/tenancy/projects.ts'
import type { ProjectSwitches } from '../store/tenancy/switches.ts'
import { cursorOf } from '../store/gallery/search/subject-order.ts'
import {
  findSubjects,
  findSubjectsInGroup,
  touchSubjects,
  type findSubjectsByIds,
  type SubjectFilter,
  type SubjectLookup,
} from '../store/gallery/subjects.ts'
import type { CountSubjects, LoadSubjects } from '../store/gallery/search/search-subjects.ts'
import type { ReadTx, Tx } from '../store/tx.ts'
import {
  addFace,
  createSubject,
  type EnrollLimits,
  type FaceToEnroll,
  type NewSubject,
  type SubjectOwner,
} from './enroll.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import { openGalleryCalibrations } from './calibration/gallery-calibrations.ts'
import { mergeSubjects, type MergedSubjects } from './merge-subjects.ts'
import { matchOperations, type MatchOperations } from './match-operations.ts'
import { createLoadSubjectDetails, type LoadSubjectDetails } from './subject-details.ts'
import type { ComparableCounts } from './count-comparable.ts'
import { modelOperations, type SubjectModels } from './model-operations.ts'
import { createDecryptStoredTemplate } from './keys/decrypt-stored-template.ts'
import { createReEmbed, type ReEmbed } from './re-embed/re-embed.ts'
import { deleteSubjects, type DeletedSubjects } from './deletion/delete-subjects.ts'
import { deleteSubject } from './deletion/delete-subject.ts'
import { reportRemoval } from './deletion/report-removal.ts'
import { overdueSubjects } from './overdue-subjects.ts'
import type { GallerySearch, OpenGallerySearch } from './search/gallery-search.ts'
import { autoThreshold, matchLevelOf, type MatchLevel } from './calibration/similarity.ts'
import { openKeys } from './keys/open-keys.ts'
import { createSubjectKeys, type SubjectKeys } from './keys/subject-keys.ts'
import { cropOperations, type CropOperations } from './stored-crops.ts'
import { createReadStoredFaces, type ReadStoredFaces } from './stored-faces.ts'
import { updateSubject, type SubjectUpdate } from './update-subject.ts'
import {
  createUnexpiredReads,
  requireFutureExpiry,
  type OnExpiredDeleted,
} from './unexpired-subjects.ts'

type GalleryOperations = MatchOperations & CropOperations

/**
 * The galleries: enrolled subjects and their faces. Functions that take a `Tx` must be called in the
 * transaction that settles the call. An expired subject does not exist for searches and reads.
 */
export type Gallery = GalleryOperations & {
  /**
   * Returns the same operations with the calibration tables that the gallery uses now; without this,
   * they use the tables of the models. A call uses one result throughout.
   */
  readonly calibratedFor: (galleryId: string) => Gallery
  /** Reads which calibration tables galleries use now. */
  readonly refreshCalibrations: () => Promise<void>
  /** Returns the number of the gallery's last change. All later searches include it. */
  readonly sequence: (reading: ReadTx, galleryId: string) => Promise<number>
  /**
   * Returns the former models by which faces of the gallery are compared. The probe also needs a
   * template of each of them, or those faces are missed.
   */
  readonly formerModels: (galleryId: string) => Promise<readonly string[]>
  /** The same for the faces of one subject, and whether any is compared by the active model. */
  readonly modelsOf: (reading: ReadTx, subject: SubjectRow) => Promise<SubjectModels>
  /** Decrypts the templates of a subject or of one of its faces, to search with them. */
  readonly readStoredFaces: ReadStoredFaces
  /** Counts the faces that can be compared with templates of these models, and the others. */
  readonly countComparable: (
    galleryId: string,
    modelIds: readonly string[],
  ) => Promise<ComparableCounts>
  /** Runs reads on one consistent snapshot. */
  readonly read: Store['read']
  readonly size: (reading: ReadTx, galleryId: string) => Promise<GallerySize>
  readonly find: (
    reading: ReadTx,
    galleryId: string,
    lookup: SubjectLookup,
  ) => Promise<SubjectRow | undefined>
  /** Finds subjects by their ids, in one statement and in no particular order. */
  readonly findByIds: typeof findSubjectsByIds
  readonly loadSubjectDetails: LoadSubjectDetails
  readonly matchLevelOf: (similarity: number) => MatchLevel
  /** Returns the threshold for a gallery of this many subjects. */
  readonly autoThreshold: (subjectCount: number) => number
  /** Returns the threshold that a project has configured for all searches, or null. */
  readonly projectThreshold: (reading: ReadTx, projectId: string) => Promise<number | null>
  /** Returns the optional features that a project has switched on. */
  readonly switches: (reading: ReadTx, projectId: string) => Promise<ProjectSwitches>
  /** Must come first in an effect: exclusive to change the gallery, shared to return its subjects. */
  readonly lock: typeof lockGallery
  /** @throws ActionError INVALID_REQUEST if an expiry is given that is not in the future. */
  readonly requireFutureExpiry: (expiresAtUtc: string | null | undefined) => void
  readonly create: (tx: Tx, owner: SubjectOwner, subject: NewSubject) => Promise<SubjectRow>
  /** @throws ActionError TEMPLATE_LIMIT_REACHED or GALLERY_FULL. */
  readonly addFace: (tx: Tx, subject: SubjectRow, face: FaceToEnroll) => Promise<string>
  readonly update: (tx: Tx, subject: SubjectRow, update: SubjectUpdate) => Promise<SubjectRow>
  readonly remove: (tx: Tx, subject: SubjectRow) => Promise<DeletionRecord>
  /**
   * Moves all faces and groups of a subject to another one and deletes the first: see
   * `mergeSubjects`.
   *
   * @throws ActionError TEMPLATE_LIMIT_REACHED or INVALID_REQUEST.
   */
  readonly merge: (tx: Tx, subjects: MergedSubjects) => Promise<DeletionRecord>
  /** Records activity of subjects. */
  readonly touch: (tx: Tx, subjectIds: readonly string[]) => Promise<void>
  /** Removes committed deletions from memory and from the database files. */
  readonly purge: (galleryId: string) => Promise<void>
  readonly list: typeof findSubjects
  /** Finds subjects, also by a text, and passes them to `load` in one snapshot. */
  readonly readSubjects: <T>(filter: SubjectFilter, load: LoadSubjects<T>) => Promise<T>
  readonly countSubjects: CountSubjects
  readonly listFaces: typeof findFaces
  readonly listGroups: typeof listGroups
  readonly listDeletions: typeof findDeletions
  readonly countDeletions: typeof countDeletions
  /**
   * Deletes subjects of a group in batches, at most `groupDeletionMax`. The records are empty if there
   * is no group.
   */
  readonly removeGroup: (galleryId: string, name: string) => Promise<DeletedSubjects>
  /** Deletes all subjects of the gallery in batches. @returns the records. */
  readonly clear: (galleryId: string) => Promise<DeletionRecord[]>
  /** Deletes expired subjects and those past their retention. @returns the number. */
  readonly sweep: () => Promise<number>
  /** Applies removals that other processes committed to the memory of the search. */
  readonly applyRemovals: GallerySearch['applyRemovals']
  /** Does the periodic maintenance of the search; stops early if the signal aborts. */
  readonly maintain: GallerySearch['maintain']
  /** Creates templates of the active model from all stored crops. */
  readonly reEmbed: ReEmbed
}

export type GalleryOptions = EnrollLimits & {
  readonly store: Store
  readonly openSearch: OpenGallerySearch
  readonly calibrations: Calibrations
  readonly masterKeyFile: string
  /** For projects without a configured retention. */
  readonly retentionDays: number
  /** The most subjects that one call of `removeGroup` deletes. */
  readonly groupDeletionMax: number
  /** Called in the transaction that deletes a subject because of its expiry or the retention. */
  readonly onExpired?: OnExpiredDeleted
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/**
 * Opens the galleries and their search. The first start creates the master key.
 *
 * @throws Error if others may read the master key file, or if the database was written with a
 *   different master key.
 */
export async function openGallery(options: GalleryOptions): Promise<Gallery> {
  const { store, openSearch, calibrations, clock, log } = options
  const keys = createSubjectKeys(await openKeys(options), clock)
  const decryptStored = createDecryptStoredTemplate(keys, log)
  const search = await openSearch({ store, decryptStored, calibrations, log })
  const purgeDue = new Set<string>()
  const writes = writeOperations({ keys, search }, { ...options, purgeDue })
  const own = await openGalleryCalibrations({ store, calibrations, log })
  const nowUtc = (): string => formatUtc(clock())
  const matchOptions = { search, decryptStored, clock, nowUtc }
  const models = modelOperations({ ...options, search })
  const { formerModels } = models
  const storedOptions = { read: store.read, decryptStored, calibrations, formerModels }
  const gallery: Gallery = {
    ...matchOperations(matchOptions, calibrations),
    calibratedFor: (galleryId) => ({
      ...gallery,
      ...matchOperations(matchOptions, own.of(galleryId)),
    }),
    refreshCalibrations: own.refresh,
    ...readOperations(store),
    ...createUnexpiredReads(store, nowUtc),
    ...writes,
    ...deleteOperations(writes.remove, search, { ...options, purgeDue }),
    ...models,
    ...cropOperations({ keys, log }),
    readStoredFaces: createReadStoredFaces(storedOptions),
    requireFutureExpiry: (expiresAtUtc) => requireFutureExpiry(expiresAtUtc, clock()),
    matchLevelOf,
    autoThreshold,
    projectThreshold: findIdentifyThreshold,
    switches: findProjectSwitches,
    loadSubjectDetails: createLoadSubjectDetails(calibrations),
    applyRemovals: search.applyRemovals,
    maintain: search.maintain,
    reEmbed: createReEmbed({ store, keys, decryptStored, calibrations, search, log }),
  }
  return gallery
}

function readOperations(store: Store) {
  return {
    read: store.read,
    lock: lockGallery,
    sequence: async (reading: ReadTx, galleryId: string) =>
      (await findGallery(reading, galleryId))?.sequence ?? 0,
    listDeletions: findDeletions,
    countDeletions,
  }
}

type WriteDeps = {
  readonly keys: SubjectKeys
  readonly search: GallerySearch
}

function writeOperations(
  { keys, search: { storeVector } }: WriteDeps,
  options: GalleryOptions & PurgeDue,
): Pick<Gallery, 'create' | 'addFace' | 'update' | 'remove' | 'merge' | 'touch'> {
  const nowUtc = (): string => formatUtc(options.clock())
  const onDeleted: OnExpiredDeleted = async (tx, subject, utc) => {
    options.purgeDue.add(subject.galleryId)
    await options.onExpired?.(tx, subject, utc)
  }
  return {
    create: (tx, owner, subject) =>
      createSubject(tx, keys, owner, { ...subject, nowUtc: nowUtc(), onDeleted }),
    addFace: (tx, subject, face) =>
      addFace(tx, subject, face, { ...options, keys, storeVector, nowUtc: nowUtc() }),
    update: (tx, subject, update) =>
      updateSubject(tx, subject, update, { nowUtc: nowUtc(), onDeleted }),
    remove: (tx, subject) => deleteSubject(tx, subject, nowUtc()),
    merge: (tx, subjects) => {
      const { templatesPerSubject } = options
      const deps = { keys, storeVector, nowUtc: nowUtc() }
      return mergeSubjects(tx, subjects, { templatesPerSubject, ...deps })
    },
    touch: (tx, subjectIds) => touchSubjects(tx, subjectIds, nowUtc()),
  }
}

/** Galleries from which a call deleted an expired subject. The next sweep purges them. */
type PurgeDue = { readonly purgeDue: Set<string> }

function deleteOperations(
  remove: Gallery['remove'],
  { sync }: GallerySearch,
  options: GalleryOptions & PurgeDue,
): Pick<Gallery, 'purge' | 'removeGroup' | 'clear' | 'sweep'> {
  const { store, retentionDays, groupDeletionMax, onExpired, clock, log, purgeDue } = options
  const purge: Gallery['purge'] = async (galleryId) => {
    try {
      await sync(galleryId)
      if (!(await store.checkpoint()))
        log.info('the write-ahead log could not be emptied because another process reads it')
    } catch (error) {
      log.error({ err: error, galleryId }, 'a deletion is not removed from memory yet')
    }
  }
  const deleteOptions = { store, remove, purge }
  const removeExpired = reportRemoval(remove, onExpired)
  return {
    purge,
    removeGroup: (galleryId, name) =>
      deleteSubjects({ ...deleteOptions, subjectsMax: groupDeletionMax }, (reading, part) =>
        findSubjectsInGroup(reading, { galleryId, name }, part),
      ),
    clear: async (galleryId) => {
      const { records } = await deleteSubjects(deleteOptions, (reading, { after, limit }) =>
        findSubjects(reading, { galleryId, after: after && cursorOf(after), limit }),
      )
      return records
    },
    sweep: async () => {
      const overdue = (reading: ReadTx) => overdueSubjects(reading, clock(), retentionDays)
      const { records } = await deleteSubjects({ ...deleteOptions, remove: removeExpired }, overdue)
      for (const galleryId of purgeDue) {
        purgeDue.delete(galleryId)
        await purge(galleryId)
      }
      return records.length
    },
  }
}
