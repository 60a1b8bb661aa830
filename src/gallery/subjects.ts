import { type Clock, formatUtc } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { ReadTx, Store, Tx } from '../store/database.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import { findSubjectCrop } from '../store/gallery/crops.ts'
import { findMerges } from '../store/gallery/duplicates/subject-merges.ts'
import { findNearMissCrop } from '../store/gallery/feedback/near-miss-crops.ts'
import {
  countUnexpiredFaces,
  countUnexpiredSubjects,
  hasExpired,
} from '../store/gallery/expired-subjects.ts'
import { faceCounts, findFaceModels, findFaces, type FaceModels } from '../store/gallery/faces.ts'
import { findGallery, lockGallery } from '../store/gallery/galleries.ts'
import {
  countGroup,
  findGroupNames,
  findSubjectGroups,
  listGroups,
  type GroupFilter,
  type GroupRenaming,
} from '../store/gallery/groups.ts'
import {
  type LoadSubjects,
  type SubjectSource,
  countSubjects,
  readSubjects,
} from '../store/gallery/search/search-subjects.ts'
import {
  type SubjectFilter,
  findSubject,
  findSubjectNames,
  findSubjects,
  findSubjectsByIds,
} from '../store/gallery/subjects.ts'
import { findProjectSwitches } from '../store/tenancy/projects.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import { deleteSubject } from './deletion/subject-deletion.ts'
import * as enrollment from './enrollment.ts'
import { createFeedback } from './feedback/feedback.ts'
import { createStoreNearMiss } from './feedback/store-near-miss.ts'
import { decideDistinct } from './health/decide-distinct.ts'
import type { SubjectKeys } from './keys/keyring.ts'
import { decryptCrop } from './keys/subject-encryption.ts'
import {
  type FaceTransfer,
  type MergedSubjects,
  findMovingFaces,
  mergeSubjects,
  transferFaces,
} from './merge-subjects.ts'
import { type MergeUndo, undoMerge } from './merge/undo-merge.ts'
import { renameGroup } from './rename-group.ts'
import type { GallerySearch } from './search/gallery-search.ts'
import { selectTemplate } from './select-template.ts'
import { type SubjectUpdate, changesSubject, updateSubject } from './subject-update.ts'

/**
 * Enrolled subjects and their faces. Functions that take a `Tx` must be called in the transaction that
 * settles the call. An expired subject does not exist for any of them.
 */
export type Subjects = ReturnType<typeof createSubjects>

export type SubjectsOptions = enrollment.EnrollLimits & {
  readonly store: Store
  readonly keys: SubjectKeys
  readonly search: Pick<GallerySearch, 'storeVectors'>
  readonly calibrations: Calibrations
  /** How long a match can be confirmed or denied. */
  readonly feedbackMs: number
  /** Called in the transaction that deletes an expired subject to give its external id to another. */
  readonly onExpired: enrollment.OnExpiredDeleted
  readonly clock: Clock
  readonly log: Pick<Log, 'error'>
}

export function createSubjects(options: SubjectsOptions) {
  const { store, keys, search, calibrations, onExpired: onDeleted, clock } = options
  const { storeVectors } = search
  const { templatesPerSubject } = options
  const nowUtc = (): string => formatUtc(clock())
  const moveOptions = () => ({ templatesPerSubject, keys, storeVectors, nowUtc: nowUtc() })
  const loadDetails = createLoadSubjectDetails(calibrations)
  return {
    /** Runs reads on one consistent snapshot. */
    read: store.read,
    /** Must come first in an effect: exclusive to change the gallery, shared to return its subjects. */
    lock: lockGallery,
    ...createUnexpiredReads(store, nowUtc),
    loadDetails,
    readCrop: createReadCrop(options),
    /** The same for the crop of a near miss, by its id. */
    readNearMissCrop: createReadCrop(options, findNearMissCrop),
    feedback: createFeedback(options),
    storeNearMiss: createStoreNearMiss(options),
    /** Returns the optional features that a project has switched on. */
    switches: findProjectSwitches,
    /** @throws ActionError INVALID_REQUEST if an expiry is given that is not in the future. */
    requireFutureExpiry: (expiresAtUtc: string | null | undefined) =>
      enrollment.requireFutureExpiry(expiresAtUtc, clock()),
    create: (tx: Tx, owner: enrollment.SubjectOwner, subject: enrollment.NewSubject) =>
      enrollment.createSubject(tx, keys, owner, { ...subject, nowUtc: nowUtc(), onDeleted }),
    /** @throws ActionError TEMPLATE_LIMIT_REACHED or GALLERY_FULL. */
    addFace: (tx: Tx, subject: SubjectRow, face: enrollment.FaceToEnroll) =>
      enrollment.addFace(tx, subject, face, { ...options, storeVectors, nowUtc: nowUtc() }),
    update: (tx: Tx, subject: SubjectRow, update: SubjectUpdate) =>
      updateSubject(tx, subject, update, { nowUtc: nowUtc(), onDeleted, storeVectors }),
    changes: changesSubject,
    remove: (tx: Tx, subject: SubjectRow) => deleteSubject(tx, subject, nowUtc()),
    /**
     * Moves all faces and groups of a subject to another one and deletes the first: see
     * `mergeSubjects`.
     *
     * @throws ActionError TEMPLATE_LIMIT_REACHED or INVALID_REQUEST.
     */
    merge: (tx: Tx, subjects: MergedSubjects) => mergeSubjects(tx, subjects, moveOptions()),
    decideDistinct,
    /** Undoes a merge: see `undoMerge`. */
    undoMerge: (tx: Tx, undo: MergeUndo) => undoMerge(tx, undo, { ...moveOptions(), onDeleted }),
    /** Finds the merges of a gallery that can be undone. */
    listMerges: (reading: ReadTx, galleryId: string) =>
      findMerges(reading, { galleryId, nowMs: clock() }),
    /** Finds the subjects that faces move from. @throws ActionError INVALID_REQUEST. */
    findMovingFaces: (reading: ReadTx, transfer: FaceTransfer) =>
      findMovingFaces(reading, transfer, nowUtc()),
    /**
     * Moves faces to another subject: see `transferFaces`.
     *
     * @returns the number of moved faces.
     * @throws ActionError TEMPLATE_LIMIT_REACHED or INVALID_REQUEST.
     */
    moveFaces: (tx: Tx, transfer: FaceTransfer) => transferFaces(tx, transfer, moveOptions()),
    /**
     * Renames a group: see `renameGroup`. @throws ActionError GROUP_NOT_FOUND or INVALID_REQUEST.
     */
    renameGroup: (tx: Tx, renaming: GroupRenaming) => renameGroup(tx, renaming, nowUtc()),
  }
}

/** Returns reads that leave out expired subjects, which the sweep deletes up to a minute later. */
function createUnexpiredReads(source: SubjectSource, nowUtc: () => string) {
  const find: typeof findSubject = async (reading, galleryId, lookup) => {
    const subject = await findSubject(reading, galleryId, lookup)
    return subject && !hasExpired(subject, nowUtc()) ? subject : undefined
  }
  /** Finds subjects by their ids, in one statement and in no particular order. */
  const findByIds: typeof findSubjectsByIds = async (reading, galleryId, subjectIds) => {
    const subjects = await findSubjectsByIds(reading, galleryId, subjectIds)
    const now = nowUtc()
    return subjects.filter((subject) => !hasExpired(subject, now))
  }
  return {
    find,
    findByIds,
    /** Finds the names and groups of subjects by their ids, in two statements. */
    findNames: async (reading: ReadTx, galleryId: string, subjectIds: readonly string[]) => {
      const named = await findSubjectNames(reading, galleryId, subjectIds)
      const groups = await findSubjectGroups(reading, subjectIds)
      const now = nowUtc()
      const subjects = named.filter((subject) => !hasExpired(subject, now))
      return subjects.map(({ subjectId, externalId, displayName }) => {
        return { subjectId, externalId, displayName, groups: [...(groups.get(subjectId) ?? [])] }
      })
    },
    /** Finds subjects, also by a text, and passes them to `load` in steps: see `readSubjects`. */
    list: <T extends SubjectDetails>(filter: SubjectFilter, load: LoadSubjects<T>) =>
      readSubjects(source, { ...filter, unexpiredAtUtc: nowUtc() }, load),
    /** Finds subjects without a text or an attribute. */
    listRows: (reading: ReadTx, filter: SubjectFilter) =>
      findSubjects(reading, { ...filter, unexpiredAtUtc: nowUtc() }),
    /** Counts the subjects of a list. */
    count: async (filter: SubjectFilter) => {
      const { galleryId, limit: _limit, signal: _signal, ...listed } = filter
      const { after: _after, sort: _sort, ...conditions } = listed
      if (Object.values(conditions).some((condition) => condition !== undefined))
        return countSubjects(source, { ...filter, unexpiredAtUtc: nowUtc() })
      // Without conditions the gallery has a counter.
      const unexpired = { galleryId, nowUtc: nowUtc() }
      const total = await source.read((reading) => countUnexpiredSubjects(reading, unexpired))
      return { total, isCapped: false }
    },
    countFaces: (reading: ReadTx, galleryId: string) =>
      countUnexpiredFaces(reading, { galleryId, nowUtc: nowUtc() }),
    listFaces: (reading: ReadTx, filter: Parameters<typeof findFaces>[1]) =>
      findFaces(reading, { ...filter, unexpiredAtUtc: nowUtc() }),
    countGroup: (reading: ReadTx, galleryId: string, name: string) =>
      countGroup(reading, galleryId, { name, unexpiredAtUtc: nowUtc() }),
    findGroupNames: (reading: ReadTx, galleryId: string, names: readonly string[]) =>
      findGroupNames(reading, galleryId, names, nowUtc()),
    listGroups: (galleryId: string, filter?: GroupFilter) =>
      listGroups(source, galleryId, { ...filter, unexpiredAtUtc: nowUtc() }),
  }
}

/** A subject as responses contain it; never includes templates. */
export type SubjectDetails = Awaited<ReturnType<typeof loadSubjectDetails>>[number] & {
  readonly faces?: ReturnType<typeof faceDetailsOf>
}

/** Returns the subjects in the order of their rows; `faces` adds the details of each face. */
function createLoadSubjectDetails(calibrations: Calibrations) {
  return async (
    reading: ReadTx,
    rows: readonly SubjectRow[],
    include = { faces: false },
  ): Promise<SubjectDetails[]> => {
    const loaded = await loadSubjectDetails(reading, rows)
    if (!include.faces) return loaded
    const subjectIds = loaded.map(({ subjectId }) => subjectId)
    const models = await findFaceModels(reading, subjectIds)
    const bySubject = Map.groupBy(models, ({ subjectId }) => subjectId)
    return loaded.map((details) => ({
      ...details,
      faces: faceDetailsOf(bySubject.get(details.subjectId) ?? [], calibrations),
    }))
  }
}

/** Returns the subjects in the order of their rows, without the details of their faces. */
export async function loadSubjectDetails(reading: ReadTx, rows: readonly SubjectRow[]) {
  const subjectIds = rows.map(({ subjectId }) => subjectId)
  const groups = await findSubjectGroups(reading, subjectIds)
  const counts = await faceCounts(reading, subjectIds)
  return rows.map((row) => ({
    subjectId: row.subjectId,
    externalId: row.externalId,
    displayName: row.displayName,
    groups: [...(groups.get(row.subjectId) ?? [])],
    // Only this folder writes the column, and always an object.
    attributes: JSON.parse(row.attributes) as Record<string, unknown>,
    embeddingCount: counts.get(row.subjectId) ?? 0,
    createdAtUtc: row.createdAtUtc,
    updatedAtUtc: row.updatedAtUtc,
    expiresAtUtc: row.expiresAtUtc,
  }))
}

/** Returns the faces of a subject. `modelId` is the model by which the face is compared. */
function faceDetailsOf(models: FaceModels, calibrations: Calibrations) {
  const byFace = Map.groupBy(models, ({ faceId }) => faceId)
  return Array.from(byFace.values(), (ofFace) => selectTemplate(ofFace, calibrations)).flatMap(
    (face) => {
      if (!face) return []
      const { faceId, qualityScore, modelId, createdAtUtc } = face
      return { faceId, qualityScore, modelId, createdAtUtc }
    },
  )
}

/**
 * Returns a function that decrypts the stored crop of a face: a square JPEG with the face in its
 * centre. Undefined if the subject has no such face, or the face no crop that can be decrypted.
 * Only projects that store crops have any.
 */
export function createReadCrop(
  { keys, log }: Pick<SubjectsOptions, 'keys' | 'log'>,
  find: typeof findSubjectCrop | typeof findNearMissCrop = findSubjectCrop,
) {
  return async (reading: ReadTx, subject: SubjectRow, faceId: string) => {
    const { subjectId, galleryId } = subject
    const crop = await find(reading, { subjectId, faceId })
    if (!crop) return undefined
    const accountId = (await findGallery(reading, galleryId))?.accountId ?? ''
    const binding = { accountId, galleryId, subjectId, faceId }
    const key = await keys.unwrap(reading, subject)
    try {
      return decryptCrop(key, binding, crop.ciphertext)
    } catch (error) {
      const alert = { alert: 'crop-tampered', galleryId, subjectId, faceId }
      log.error({ ...alert, err: error }, 'a stored crop cannot be decrypted; it is not shown')
      return undefined
    }
  }
}
