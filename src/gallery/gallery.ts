import { type Clock, dayMs, formatUtc } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { ReadTx, Store, Tx } from '../store/database.ts'
import { type DeletionRecord, countDeletions, findDeletions } from '../store/gallery/deletions.ts'
import { deleteExpiredData } from '../store/gallery/duplicates/subject-merges.ts'
import type { MatchedCall } from '../store/gallery/feedback/match-verdicts.ts'
import { removeEndedData } from '../store/gallery/feedback/near-miss-crops.ts'
import { lockGallery } from '../store/gallery/galleries.ts'
import type { GroupRenaming } from '../store/gallery/groups.ts'
import {
  type UnseenFilter,
  findExpiredSubjects,
  findUnseenSubjects,
} from '../store/gallery/subjects.ts'
import { findProjectVisitors, visitorsGalleryId } from '../store/gallery/visitors.ts'
import { deleteInBatches } from '../store/delete-in-batches.ts'
import { listProjectRetentions } from '../store/tenancy/projects.ts'
import { type Calibrations, openGalleryCalibrations } from './calibration/calibrations.ts'
import {
  type DeletionLimits,
  clearGallery,
  clearVisitors,
  deleteGroup,
  deleteSubjects,
} from './deletion/subject-deletion.ts'
import type { EnrollLimits, OnExpiredDeleted } from './enrollment.ts'
import type { MatchDecision } from './feedback/feedback.ts'
import { createDecryptStoredTemplate } from './keys/template-encryption.ts'
import { createSubjectKeys } from './keys/keyring.ts'
import { openKeys } from './keys/open-keys.ts'
import { createMatching } from './matching.ts'
import { createReEmbed } from './re-embed/re-embed.ts'
import { renameGroup } from './rename-group.ts'
import type { GallerySearch, OpenGallerySearch } from './search/gallery-search.ts'
import { type Subjects, createSubjects } from './subjects.ts'
import { type VisitorLookup, createVisitors } from './visitors.ts'

/** The galleries of all projects. */
export type Gallery = Awaited<ReturnType<typeof openGallery>>

type GalleryOptions = EnrollLimits & {
  readonly store: Store
  readonly openSearch: OpenGallerySearch
  readonly calibrations: Calibrations
  readonly masterKeyFile: string
  /** For projects without a configured retention. */
  readonly retentionDays: number
  /** The limits of one call of `removeGroup`. */
  readonly groupDeletion: Omit<DeletionLimits, 'clock'>
  /** How long a match can be confirmed or denied. */
  readonly feedbackMs: number
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
export async function openGallery(options: GalleryOptions) {
  const { store, openSearch, calibrations, clock, log } = options
  const keys = createSubjectKeys(await openKeys(options), clock)
  const decryptStored = createDecryptStoredTemplate(keys, log)
  const search = await openSearch({ store, decryptStored, calibrations, log })
  const tables = await openGalleryCalibrations({ store, calibrations, log })
  const purgeDue = new Set<string>()
  const onExpired: OnExpiredDeleted = async (tx, subject, nowUtc) => {
    purgeDue.add(subject.galleryId)
    await options.onExpired?.(tx, subject, nowUtc)
  }
  const subjects = createSubjects({ ...options, keys, search, onExpired })
  const maintenance = createMaintenance({
    ...options,
    search,
    remove: subjects.remove,
    feedback: subjects.feedback,
    purgeDue,
    refreshCalibrations: tables.refresh,
    reEmbed: createReEmbed({ store, keys, decryptStored, calibrations, search, log }),
  })
  const matching = createMatching({ ...options, search, decryptStored, calibrationsOf: tables.of })
  const visitors = createVisitors({ ...options, keys, search, onExpired, decryptStored })
  return { subjects, matching, maintenance, visitors }
}

/** Work on whole galleries, in separate transactions, and the records of deletions. */
export type Maintenance = ReturnType<typeof createMaintenance>

type MaintenanceOptions = Pick<
  GalleryOptions,
  'store' | 'retentionDays' | 'groupDeletion' | 'onExpired' | 'clock' | 'log'
> & {
  readonly search: GallerySearch
  readonly remove: Subjects['remove']
  readonly feedback: Subjects['feedback']
  /** Galleries from which a call deleted an expired subject. The next sweep purges them. */
  readonly purgeDue: Set<string>
  readonly refreshCalibrations: () => Promise<void>
  readonly reEmbed: ReturnType<typeof createReEmbed>
}

function createMaintenance(options: MaintenanceOptions) {
  const { store, search, remove, groupDeletion, clock, log } = options
  /** Removes committed deletions from memory and from the database files. */
  const purge = async (galleryId: string): Promise<void> => {
    try {
      await search.sync(galleryId)
      if (!(await store.checkpoint()))
        log.info('the write-ahead log could not be emptied because another process reads it')
    } catch (error) {
      log.error({ err: error, galleryId }, 'a deletion is not removed from memory yet')
    }
  }
  const deleteOptions = { store, remove, purge }
  const change = <Result>(galleryId: string, job: (tx: Tx) => Promise<Result>) =>
    store.write(async (tx) => {
      await lockGallery(tx, galleryId, 'exclusive')
      return job(tx)
    })
  return {
    purge,
    /** Changes subjects of a gallery in one transaction, apart from the settlement of the call. */
    change,
    /**
     * Deletes subjects of a group in batches, within the limits of `groupDeletion`. The records are
     * empty if there is no group.
     */
    removeGroup: (galleryId: string, name: string) =>
      deleteGroup({ ...deleteOptions, limits: { ...groupDeletion, clock } }, { galleryId, name }),
    /** Renames a group in one transaction. @throws ActionError as `renameGroup`. */
    renameGroup: (renaming: GroupRenaming) =>
      change(renaming.galleryId, (tx) => renameGroup(tx, renaming, formatUtc(clock()))),
    /** Confirms or denies a match in one transaction. @throws ActionError as `decideMatch`. */
    decideMatch: (call: MatchedCall, decision: MatchDecision) =>
      store.write((tx) => options.feedback.decide(tx, call, decision)),
    /** Changes a visitor in one transaction: see `Visitors`. */
    changeVisitor: async <Result>(
      { galleryId, visitorId }: VisitorLookup,
      change: (tx: Tx, lookup: VisitorLookup) => Promise<Result>,
    ): Promise<Result> => {
      const result = await store.write((tx) => change(tx, { galleryId, visitorId }))
      await purge(visitorsGalleryId(galleryId))
      return result
    },
    /** Deletes all subjects of the gallery in batches. @returns the records. */
    clear: async (galleryId: string): Promise<DeletionRecord[]> =>
      (await clearGallery(deleteOptions, galleryId)).records,
    /** Deletes the visitors that calls of a project have created. @returns the records. */
    clearVisitors: async (projectId: string): Promise<DeletionRecord[]> =>
      (await clearVisitors(deleteOptions, projectId)).records,
    listDeletions: findDeletions,
    countDeletions,
    /**
     * Deletes expired subjects, subjects and visitors past their retention, old merges, undecided
     * matches, old crops of near misses and old counts of matches.
     *
     * @param signal ends the sweep before its next batch, which the next sweep deletes.
     * @returns the number of subjects and visitors.
     */
    sweep: (signal?: AbortSignal) => sweep(options, purge, signal),
    /** Applies removals that other processes committed to the memory of the search. */
    applyRemovals: search.applyRemovals,
    /** Does the periodic maintenance of the search; stops early if the signal aborts. */
    maintainSearch: search.maintain,
    /** Reads which calibration tables galleries use now. */
    refreshCalibrations: options.refreshCalibrations,
    /** Creates templates of the active model from all stored crops. */
    reEmbed: options.reEmbed,
  }
}

async function sweep(
  options: MaintenanceOptions,
  purge: (galleryId: string) => Promise<void>,
  signal: AbortSignal | undefined,
) {
  const { remove, purgeDue, onExpired, clock } = options
  const write: Store['write'] = async (job) => {
    signal?.throwIfAborted()
    return options.store.write(job)
  }
  const store = { ...options.store, write }
  const removeExpired: Subjects['remove'] = async (tx, subject) => {
    const record = await remove(tx, subject)
    const isVisitor = typeof subject.visitCount === 'number'
    if (!isVisitor) await onExpired?.(tx, subject, record.deletedAtUtc)
    return record
  }
  const deletion = { store, remove: removeExpired, purge }
  let count = 0
  // One project at a time: a read then has three short statements, whatever the number of projects.
  for (const { projectId } of await store.read((tx) => listProjectRetentions(tx))) {
    const { records } = await deleteSubjects(deletion, (reading, { limit }) =>
      findOverdueSubjects(reading, { projectId, limit }, options),
    )
    count += records.length
  }
  for (const table of ['subjectMerges', 'matchVerdicts'] as const)
    await deleteInBatches(store, (tx) => deleteExpiredData(tx, table, clock()))
  await removeEndedData(store, clock())
  for (const galleryId of purgeDue) {
    purgeDue.delete(galleryId)
    await purge(galleryId)
  }
  return count
}

/**
 * Returns subjects of a project that have expired, or subjects or visitors that had no activity for
 * longer than its retention; none if it is frozen.
 */
async function findOverdueSubjects(
  reading: ReadTx,
  { projectId, limit }: Omit<UnseenFilter, 'beforeUtc'>,
  { clock, retentionDays }: MaintenanceOptions,
) {
  const [days] = await listProjectRetentions(reading, projectId)
  if (!days) return []
  const nowMs = clock()
  const before = (n: number) => ({ projectId, beforeUtc: formatUtc(nowMs - n * dayMs), limit })
  const expired = await findExpiredSubjects(reading, before(0))
  if (expired.length > 0) return expired
  const unseen = await findUnseenSubjects(reading, before(days.retentionDays ?? retentionDays))
  if (unseen.length > 0) return unseen
  return findProjectVisitors(reading, before(days.visitorRetentionDays))
}
