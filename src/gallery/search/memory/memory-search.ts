import type { ReadTx, Store } from '../../../store/database.ts'
import { listGalleryIds, findGallery } from '../../../store/gallery/galleries.ts'
import { findRemovalWatermarks } from '../../../store/gallery/removals.ts'
import { type ParallelLoad, loadGallery, type LoadedState } from '../load/load-gallery.ts'
import { createPageMaintenance } from '../load/maintain-pages.ts'
import { loadedModelsOf } from '../load/read-range.ts'
import type { ExactSearch } from './exact-search.ts'
import type { OpenGallerySearch, SearchDeps } from '../gallery-search.ts'
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import type { Log } from '../../../lib/log.ts'
import { mapSequential } from '../../../lib/account-context.ts'
import {
  findSubjectChanges,
  afterAllSubjectIds,
  type SubjectChangeCursor,
} from '../../../store/gallery/faces.ts'
import { findSubjectGroups } from '../../../store/gallery/groups.ts'
import type { Calibrations } from '../../calibration/calibrations.ts'
import type { DecryptStoredTemplate } from '../../keys/template-encryption.ts'
import { findSubjectTemplates } from '../../../store/gallery/templates.ts'
import type { Template } from '../../../vision/embed/template.ts'
import { mergeFaces, nearestFace, readFaceTemplates } from '../../match.ts'
import type { SearchCandidate, ScoredSubject } from '../scored-subject.ts'
import type { IndexChange } from './index-change.ts'

/** Opens the search in memory. Resolves when every gallery is loaded. */
export function openMemorySearch(
  exact: ExactSearch,
  parallelLoad?: ParallelLoad,
): OpenGallerySearch {
  return async (deps) => {
    const gallerySync = createGallerySync({ ...deps, search: exact, parallelLoad })
    const { sync, reloadCount, reloaded } = gallerySync
    for (const galleryId of await deps.store.read(listGalleryIds)) await sync(galleryId)
    return {
      search: async (galleryId, { modelId, ...probe }, options) => {
        for (;;) {
          const mayBeDenied = await sync(galleryId)
          const count = reloadCount(galleryId)
          const subjects = await exact.search(galleryId, probe, { ...options, modelId })
          // A reload that began meanwhile had emptied the index.
          const found = subjects.map((subject) => ({ ...subject, mayBeDenied }))
          if (reloadCount(galleryId) === count)
            return findNearestFaces(found, { modelId, ...probe }, deps)
        }
      },
      countFaces: async (galleryId, modelIds) => {
        await reloaded(galleryId)
        const byModel = modelIds.map((modelId) => exact.size(galleryId, modelId).faces)
        return { total: exact.size(galleryId).faces, byModel }
      },
      storeVectors: async () => {},
      sync,
      applyRemovals: createApplyRemovals(deps.store, gallerySync),
      maintain: parallelLoad
        ? createPageMaintenance({
            ...parallelLoad,
            ...deps,
            models: () => loadedModelsOf(deps.calibrations),
          })
        : async () => {},
    }
  }
}

/** Subjects whose faces are decrypted in one turn of the event loop; each has 20 faces by default. */
const subjectsPerTurn = 16

/**
 * Adds to each subject its face that is most similar to the probe. The index has only the merged
 * templates, so the faces are decrypted. A subject that has lost its faces since is left out.
 */
async function findNearestFaces(
  found: readonly ScoredSubject[],
  probe: Template,
  { store, decryptStored, calibrations }: SearchDeps,
): Promise<readonly SearchCandidate[]> {
  const nearestIds = new Map(found.map(({ subjectId, faceId }) => [subjectId, faceId]))
  const merged = found.filter(({ faceId }) => faceId === undefined)
  const options = { decryptStored, models: calibrations, modelIds: [probe.modelId] }
  for (let index = 0; index < merged.length; index += subjectsPerTurn) {
    if (index > 0) await nextEventLoopTurn()
    const ids = merged.slice(index, index + subjectsPerTurn).map(({ subjectId }) => subjectId)
    await store.read(async (reading) => {
      const stored = await findSubjectTemplates(reading, ids)
      for (const [subjectId, own] of Map.groupBy(stored, (row) => row.subjectId)) {
        const faces = await readFaceTemplates(reading, own, options)
        nearestIds.set(subjectId, nearestFace(faces, probe)?.faceId)
        for (const { vector } of faces) vector.fill(0)
      }
    })
  }
  return found.flatMap((subject) => {
    const faceId = nearestIds.get(subject.subjectId)
    return faceId === undefined ? [] : [{ ...subject, faceId }]
  })
}

/** How often a server confirms the same removals again while another server has not applied them. */
const confirmIntervalMs = 5000

function createApplyRemovals(store: Store, { sync, sequenceOf }: GallerySync) {
  let confirmed = ''
  let confirmedMs = -Infinity
  return async (): Promise<void> => {
    const watermarks = await store.read(findRemovalWatermarks)
    for (const { galleryId, sequence } of watermarks)
      if (sequenceOf(galleryId) < sequence) await sync(galleryId)
    const key = watermarks.map(({ galleryId, sequence }) => `${galleryId} ${sequence}`).join(' ')
    if (watermarks.length === 0) return
    const isDue = performance.now() >= confirmedMs + confirmIntervalMs
    if (key === confirmed && !isDue) return
    await store.confirmRemovals(watermarks)
    confirmed = key
    confirmedMs = performance.now()
  }
}

type SyncOptions = {
  readonly store: Pick<Store, 'read' | 'write' | 'checkpoint'>
  readonly search: ExactSearch
  readonly decryptStored: DecryptStoredTemplate
  readonly calibrations: Calibrations
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  /** Without it, galleries of all sizes are loaded by the calling thread. */
  readonly parallelLoad?: ParallelLoad | undefined
}

export type GallerySync = ReturnType<typeof createGallerySync>

/** Rows of faces that are decrypted in one turn of the event loop. */
const rowBatchSize = 64

/**
 * Keeps the index in memory in sync with the store. It is called before each search, so a search
 * includes everything that was committed before it began. If a face has templates of several models,
 * the index holds the one by which it is compared, so a model change needs little additional memory.
 */
export function createGallerySync(options: SyncOptions) {
  const { store, search, log } = options
  const syncedSequences = new Map<string, number>()
  const runningPulls = new Map<string, Promise<void>>()
  const runningReloads = new Map<string, Promise<void>>()
  const reloadCounts = new Map<string, number>()
  const sequenceOf = (galleryId: string): number => syncedSequences.get(galleryId) ?? 0
  const reloadCount = (galleryId: string): number => reloadCounts.get(galleryId) ?? 0
  const load = async (galleryId: string): Promise<LoadedState | undefined> => {
    const { parallelLoad, calibrations } = options
    if (!parallelLoad) return undefined
    const models = loadedModelsOf(calibrations)
    return loadGallery(galleryId, { ...parallelLoad, store, search, models, log })
  }
  const catchUp = async (galleryId: string): Promise<boolean> => {
    const loaded = sequenceOf(galleryId) === 0 ? await load(galleryId) : undefined
    const sequence = await applyChanges(options, galleryId, loaded ?? sequenceOf(galleryId))
    if (sequence !== undefined) syncedSequences.set(galleryId, sequence)
    return sequence !== undefined
  }
  const reload = async (galleryId: string): Promise<void> => {
    log.warn({ galleryId }, 'the gallery is loaded again; removals of faces may have been missed')
    do {
      syncedSequences.delete(galleryId)
      reloadCounts.set(galleryId, reloadCount(galleryId) + 1)
      await search.drop(galleryId)
    } while (!(await catchUp(galleryId)))
  }
  const pull = async (galleryId: string): Promise<void> => {
    // Part of a load that failed: faces in it may have been removed since.
    const isPartial = sequenceOf(galleryId) === 0 && search.sequenceOf(galleryId) > 0
    if (!isPartial && (await catchUp(galleryId))) return
    await registerRunning(runningReloads, galleryId, reload)
  }
  return {
    /**
     * Applies all changes of a gallery that were committed before the call to the index in memory.
     *
     * @returns whether any subject of the gallery had denials.
     */
    sync: async (galleryId: string): Promise<boolean> => {
      const gallery = await store.read((reading) => findGallery(reading, galleryId))
      // A pull that began earlier may not include the last change: then another one follows.
      while (sequenceOf(galleryId) < (gallery?.sequence ?? 0))
        await (runningPulls.get(galleryId) ?? registerRunning(runningPulls, galleryId, pull))
      return Boolean(gallery?.hasDenials)
    },
    /** Returns the number of the last change that is applied. */
    sequenceOf,
    /** Returns how often the gallery was emptied to load it again. */
    reloadCount,
    /** Resolves when the gallery is not being loaded again. */
    reloaded: async (galleryId: string): Promise<void> => runningReloads.get(galleryId),
  }
}

/** Runs a job of a gallery, and registers it until it ends. */
function registerRunning(
  jobs: Map<string, Promise<void>>,
  galleryId: string,
  job: (galleryId: string) => Promise<void>,
): Promise<void> {
  const running = job(galleryId).finally(() => jobs.delete(galleryId))
  jobs.set(galleryId, running)
  return running
}

/**
 * Applies the changes of a gallery after a change to the index, which is empty if that is 0, or after
 * a load.
 *
 * @returns the last applied change; undefined if records of later removals were deleted.
 */
async function applyChanges(options: SyncOptions, galleryId: string, from: number | LoadedState) {
  const { store, search } = options
  const { sequence: last, removalsDeletedTo: deletedTo } =
    typeof from === 'number' ? { sequence: from, removalsDeletedTo: from } : from
  let cursor: SubjectChangeCursor = { sequence: last, subjectId: afterAllSubjectIds }
  // An empty index has no face that was removed before its first read.
  let knownRemovalsTo = last === 0 ? undefined : Math.max(last, deletedTo)
  for (;;) {
    const page = await store.read((reading) => readPage(reading, galleryId, cursor, options))
    const { sequence, removalsDeletedTo, changes, next } = page
    knownRemovalsTo = Math.max(knownRemovalsTo ?? removalsDeletedTo, appliedTo(cursor))
    const isComplete = removalsDeletedTo <= knownRemovalsTo
    if (isComplete) await search.apply(galleryId, changes)
    for (const { templates } of changes) for (const { vector } of templates) vector.fill(0)
    if (!isComplete) return undefined
    if (!next) return sequence
    cursor = next
    await nextEventLoopTurn()
  }
}

/** Returns the last change that was read completely. A page may end within a change. */
function appliedTo({ sequence, subjectId }: SubjectChangeCursor): number {
  return subjectId === afterAllSubjectIds ? sequence : sequence - 1
}

/** Reads the next changes and decrypts their templates. */
async function readPage(
  reading: ReadTx,
  galleryId: string,
  cursor: SubjectChangeCursor,
  { decryptStored, calibrations }: SyncOptions,
) {
  const { sequence = 0, removalsDeletedTo = 0 } = (await findGallery(reading, galleryId)) ?? {}
  const { subjects, next } = await findSubjectChanges(reading, galleryId, cursor, rowBatchSize)
  const groups = await findSubjectGroups(
    reading,
    subjects.map(({ subjectId }) => subjectId),
  )
  const changes = await mapSequential(
    subjects,
    async ({ sequence, subjectId, templates: stored }): Promise<IndexChange> => {
      const faces = await readFaceTemplates(reading, stored, {
        decryptStored,
        models: calibrations,
      })
      const expiresAtUtc = stored[0]?.expiresAtUtc ?? null
      const owner = {
        groups: groups.get(subjectId) ?? [],
        expiresAtMs: expiresAtUtc === null ? undefined : Date.parse(expiresAtUtc),
      }
      const templates = mergeFaces(faces).map((merged) => ({ ...merged, ...owner }))
      for (const { vector } of faces) vector.fill(0)
      return { sequence, subjectId, templates }
    },
  )
  return { sequence, removalsDeletedTo, changes, next }
}
