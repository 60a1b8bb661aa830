import { formatUtc, type Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { mapSequential } from '../lib/account-context.ts'
import type { ReadTx, Store, Tx } from '../store/database.ts'
import type { DeletionRecord } from '../store/gallery/deletions.ts'
import { findUnexpiredSize, hasExpired } from '../store/gallery/expired-subjects.ts'
import { findFaces, faceCounts, findSubjectFaces } from '../store/gallery/faces.ts'
import { lockGallery, type GallerySize } from '../store/gallery/galleries.ts'
import { listGroups, findSubjectGroups, type GroupCount } from '../store/gallery/groups.ts'
import {
  countSubjects,
  readSubjects,
  type CountSubjects,
  type LoadSubjects,
  type SubjectSource,
} from '../store/gallery/search/search-subjects.ts'
import { findSubject, findSubjectsByIds, type SubjectFilter } from '../store/gallery/subjects.ts'
import { findMerges } from '../store/gallery/duplicates/subject-merges.ts'
import type { SubjectMergeRow, SubjectRow } from '../store/gallery-schema.ts'
import { findProjectSwitches } from '../store/tenancy/projects.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import { deleteSubject } from './deletion/subject-deletion.ts'
import { decideDistinct } from './health/decide-distinct.ts'
import {
  type EnrollLimits,
  type FaceToEnroll,
  type NewSubject,
  type OnExpiredDeleted,
  type SubjectOwner,
  addFace,
  createSubject,
  requireFutureExpiry,
} from './enrollment.ts'
import type { SubjectKeys } from './keys/keyring.ts'
import {
  type FaceTransfer,
  type MergeResult,
  type MergedSubjects,
  type MovingFaces,
  findMovingFaces,
  mergeSubjects,
  transferFaces,
} from './merge-subjects.ts'
import { renameGroup, type GroupRenaming } from './rename-group.ts'
import { createReadCrop, type ReadCrop } from './read-crop.ts'
import type { GallerySearch } from './search/gallery-search.ts'
import { undoMerge, type MergeUndo, type SeparatedSubjects } from './merge/undo-merge.ts'
import { changesSubject, updateSubject, type SubjectUpdate } from './subject-update.ts'
import { findSubjectTemplates } from '../store/gallery/templates.ts'
import { selectTemplate } from './select-template.ts'

/**
 * Enrolled subjects and their faces. Functions that take a `Tx` must be called in the transaction that
 * settles the call. An expired subject does not exist for any of them.
 */
export type Subjects = {
  /** Runs reads on one consistent snapshot. */
  readonly read: Store['read']
  /** Must come first in an effect: exclusive to change the gallery, shared to return its subjects. */
  readonly lock: typeof lockGallery
  readonly find: typeof findSubject
  /** Finds subjects by their ids, in one statement and in no particular order. */
  readonly findByIds: typeof findSubjectsByIds
  /** Finds subjects, also by a text, and passes them to `load` in one snapshot. */
  readonly list: <T>(filter: SubjectFilter, load: LoadSubjects<T>) => Promise<T>
  /** Counts the subjects of a list. */
  readonly count: CountSubjects
  readonly size: (reading: ReadTx, galleryId: string) => Promise<GallerySize>
  readonly listFaces: typeof findFaces
  readonly listGroups: typeof listGroups
  readonly loadDetails: LoadSubjectDetails
  readonly readCrop: ReadCrop
  /** Returns the optional features that a project has switched on. */
  readonly switches: typeof findProjectSwitches
  /** @throws ActionError INVALID_REQUEST if an expiry is given that is not in the future. */
  readonly requireFutureExpiry: (expiresAtUtc: string | null | undefined) => void
  readonly create: (tx: Tx, owner: SubjectOwner, subject: NewSubject) => Promise<SubjectRow>
  /** @throws ActionError TEMPLATE_LIMIT_REACHED or GALLERY_FULL. */
  readonly addFace: (tx: Tx, subject: SubjectRow, face: FaceToEnroll) => Promise<string>
  readonly update: (tx: Tx, subject: SubjectRow, update: SubjectUpdate) => Promise<SubjectRow>
  readonly changes: typeof changesSubject
  readonly remove: (tx: Tx, subject: SubjectRow) => Promise<DeletionRecord>
  /**
   * Moves all faces and groups of a subject to another one and deletes the first: see
   * `mergeSubjects`.
   *
   * @throws ActionError TEMPLATE_LIMIT_REACHED or INVALID_REQUEST.
   */
  readonly merge: (tx: Tx, subjects: MergedSubjects) => Promise<MergeResult>
  /** Undoes a merge: see `undoMerge`. */
  readonly undoMerge: (tx: Tx, undo: MergeUndo) => Promise<SeparatedSubjects>
  readonly decideDistinct: typeof decideDistinct
  /** Finds the merges of a gallery that can be undone. */
  readonly listMerges: (reading: ReadTx, galleryId: string) => Promise<readonly SubjectMergeRow[]>
  /** Finds the subjects that faces move from. @throws ActionError INVALID_REQUEST. */
  readonly findMovingFaces: (
    reading: ReadTx,
    transfer: FaceTransfer,
  ) => Promise<readonly MovingFaces[]>
  /**
   * Moves faces to another subject: see `transferFaces`.
   *
   * @returns the number of moved faces.
   * @throws ActionError TEMPLATE_LIMIT_REACHED or INVALID_REQUEST.
   */
  readonly moveFaces: (tx: Tx, transfer: FaceTransfer) => Promise<number>
  /** Renames a group: see `renameGroup`. @throws ActionError GROUP_NOT_FOUND or INVALID_REQUEST. */
  readonly renameGroup: (tx: Tx, renaming: GroupRenaming) => Promise<GroupCount>
}

type SubjectsOptions = EnrollLimits & {
  readonly store: Store
  readonly keys: SubjectKeys
  readonly search: Pick<GallerySearch, 'storeVectors'>
  readonly calibrations: Calibrations
  /** Called in the transaction that deletes an expired subject to give its external id to another. */
  readonly onExpired: OnExpiredDeleted
  readonly clock: Clock
  readonly log: Pick<Log, 'error'>
}

export function createSubjects(options: SubjectsOptions): Subjects {
  const { store, keys, search, calibrations, onExpired: onDeleted, clock } = options
  const { storeVectors } = search
  const { templatesPerSubject } = options
  const nowUtc = (): string => formatUtc(clock())
  const moveOptions = () => ({ templatesPerSubject, keys, storeVectors, nowUtc: nowUtc() })
  return {
    read: store.read,
    lock: lockGallery,
    ...createUnexpiredReads(store, nowUtc),
    loadDetails: createLoadSubjectDetails(calibrations),
    readCrop: createReadCrop(options),
    switches: findProjectSwitches,
    requireFutureExpiry: (expiresAtUtc) => requireFutureExpiry(expiresAtUtc, clock()),
    create: (tx, owner, subject) =>
      createSubject(tx, keys, owner, { ...subject, nowUtc: nowUtc(), onDeleted }),
    addFace: (tx, subject, face) =>
      addFace(tx, subject, face, { ...options, storeVectors, nowUtc: nowUtc() }),
    update: (tx, subject, update) =>
      updateSubject(tx, subject, update, { nowUtc: nowUtc(), onDeleted, storeVectors }),
    changes: changesSubject,
    remove: (tx, subject) => deleteSubject(tx, subject, nowUtc()),
    merge: (tx, subjects) => mergeSubjects(tx, subjects, moveOptions()),
    decideDistinct,
    undoMerge: (tx, undo) => undoMerge(tx, undo, { ...moveOptions(), onDeleted }),
    listMerges: (reading, galleryId) => findMerges(reading, { galleryId, nowMs: clock() }),
    findMovingFaces: (reading, transfer) => findMovingFaces(reading, transfer, nowUtc()),
    moveFaces: (tx, transfer) => transferFaces(tx, transfer, moveOptions()),
    renameGroup: (tx, renaming) => renameGroup(tx, renaming, nowUtc()),
  }
}

/** Returns reads that leave out expired subjects, which the sweep deletes up to a minute later. */
function createUnexpiredReads(
  source: SubjectSource,
  nowUtc: () => string,
): Pick<Subjects, 'find' | 'findByIds' | 'list' | 'count' | 'size' | 'listFaces' | 'listGroups'> {
  const size: Subjects['size'] = (reading, galleryId) =>
    findUnexpiredSize(reading, { galleryId, nowUtc: nowUtc() })
  return {
    size,
    find: async (reading, galleryId, lookup) => {
      const subject = await findSubject(reading, galleryId, lookup)
      return subject && !hasExpired(subject, nowUtc()) ? subject : undefined
    },
    findByIds: async (reading, galleryId, subjectIds) => {
      const subjects = await findSubjectsByIds(reading, galleryId, subjectIds)
      return subjects.filter((subject) => !hasExpired(subject, nowUtc()))
    },
    list: (filter, load) => readSubjects(source, { ...filter, unexpiredAtUtc: nowUtc() }, load),
    count: async (filter) => {
      const { galleryId, limit: _limit, after: _after, sort: _sort, ...conditions } = filter
      if (Object.values(conditions).some((condition) => condition !== undefined))
        return countSubjects(source, { ...filter, unexpiredAtUtc: nowUtc() })
      // Without conditions the gallery has a counter.
      const { subjectCount } = await source.read((reading) => size(reading, galleryId))
      return { total: subjectCount, isCapped: false }
    },
    listFaces: (reading, filter) => findFaces(reading, { ...filter, unexpiredAtUtc: nowUtc() }),
    listGroups: (reading, galleryId, filter) =>
      listGroups(reading, galleryId, { ...filter, unexpiredAtUtc: nowUtc() }),
  }
}

/** A subject as responses contain it; never includes templates. */
export type SubjectDetails = Pick<
  SubjectRow,
  'subjectId' | 'externalId' | 'displayName' | 'createdAtUtc' | 'updatedAtUtc' | 'expiresAtUtc'
> & {
  readonly groups: string[]
  readonly attributes: Readonly<Record<string, unknown>>
  readonly embeddingCount: number
  readonly faces?: FaceDetails[]
}

type FaceDetails = {
  readonly faceId: string
  readonly qualityScore: number
  /** The model by which the face is compared. */
  readonly modelId: string
  readonly createdAtUtc: string
}

/** Returns the subjects in the order of their rows; `faces` adds the details of each face. */
export type LoadSubjectDetails = (
  reading: ReadTx,
  rows: readonly SubjectRow[],
  include?: { readonly faces: boolean },
) => Promise<SubjectDetails[]>

function createLoadSubjectDetails(calibrations: Calibrations): LoadSubjectDetails {
  return async (reading, rows, include = { faces: false }) => {
    const loaded = await loadSubjectDetails(reading, rows)
    if (!include.faces) return loaded
    return mapSequential(loaded, async (details) => ({
      ...details,
      faces: await faceDetailsOf(reading, details.subjectId, calibrations),
    }))
  }
}

/** Returns the subjects in the order of their rows, without the details of their faces. */
export async function loadSubjectDetails(
  reading: ReadTx,
  rows: readonly SubjectRow[],
): Promise<SubjectDetails[]> {
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

async function faceDetailsOf(
  reading: ReadTx,
  subjectId: string,
  calibrations: Calibrations,
): Promise<FaceDetails[]> {
  const templates = await findSubjectTemplates(reading, [subjectId])
  const byFace = Map.groupBy(templates, ({ faceId }) => faceId)
  const faces = await findSubjectFaces(reading, subjectId)
  return faces.map(({ faceId, qualityScore, createdAtUtc }) => {
    const { modelId = '' } = selectTemplate(byFace.get(faceId) ?? [], calibrations) ?? {}
    return { faceId, qualityScore, modelId, createdAtUtc }
  })
}
