import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import { newId } from '../../lib/ids.ts'
import type { Store } from '../../store/database.ts'
import { findOutdatedFaces } from '../../store/gallery/densities/outdated-templates.ts'
import type { ReadTx } from '../../store/tx.ts'
import type { GallerySearch } from '../search/gallery-search.ts'
import type { DensityThread } from './start-density-thread.ts'
import type { DensityUpdate } from './density-update.ts'
import {
  eraseSubjects,
  readOutdatedSubjects,
  replaceUnchangedSubjects,
  sealUpdatedSubject,
  type OutdatedSubject,
  type OutdatedSubjectDeps,
  type ReadSubjects,
  type UpdatedSubject,
} from './outdated-subjects.ts'

export type UpdatePassDeps = OutdatedSubjectDeps & {
  readonly store: Store
  readonly search: Pick<GallerySearch, 'storeVectors' | 'sync'>
}

/** One pass through all templates of an earlier version. */
export type UpdatePass = {
  readonly update: DensityUpdate
  readonly thread: DensityThread
  readonly signal: AbortSignal
  /** Faces whose template cannot be decrypted; they are skipped. */
  readonly unreadable: Set<string>
  readonly onUpdated: (templates: number) => void
}

/** The position of a pass in the order of the face ids, and the subjects in work. */
type PassState = {
  afterFaceId: string
  /** Where the pass began. After the end of the order it continues from the start to here. */
  startFaceId: string
  isWrapped: boolean
  subjectsPerBatch: number
  readonly subjectsInWork: Set<string>
  /** Whether a subject was changed by another process or a call, so that it has to be read again. */
  hasConflict: boolean
}

/** Templates of a batch. The event loop decrypts and encrypts them in a few milliseconds. */
const templatesPerBatch = 32

/**
 * Updates all templates of an earlier version, a few subjects per transaction. On a shared database it
 * starts at a random face, so that several servers divide the work. Two servers may still take the
 * same subjects: the first one writes them, and the other one continues at another face.
 *
 * @returns whether every subject that was found is updated or cannot be decrypted.
 */
export async function runUpdatePass(pass: UpdatePass, deps: UpdatePassDeps): Promise<boolean> {
  const startFaceId = deps.store.isShared ? newId() : ''
  const state: PassState = {
    afterFaceId: startFaceId,
    startFaceId,
    isWrapped: startFaceId === '',
    subjectsPerBatch: 8,
    subjectsInWork: new Set(),
    hasConflict: false,
  }
  const batches = readBatches(state, pass, deps)
  const work = async (): Promise<void> => {
    for await (const batch of batches) await updateBatch(batch, state, pass, deps)
  }
  // Two, so that a batch is read and written while the thread computes another.
  for (const result of await Promise.allSettled([work(), work()]))
    if (result.status === 'rejected') throw result.reason
  return !state.hasConflict && !pass.signal.aborted
}

async function* readBatches(
  state: PassState,
  pass: UpdatePass,
  deps: UpdatePassDeps,
): AsyncGenerator<ReadSubjects> {
  while (!pass.signal.aborted) {
    const batch = await deps.store.read((reading) => readBatch(reading, state, pass, deps))
    if (batch) yield batch
    else if (state.isWrapped) return
    else {
      state.isWrapped = true
      state.afterFaceId = ''
    }
    await nextEventLoopTurn()
  }
}

/** Reads the next subjects and moves the position past them; undefined at the end of the order. */
async function readBatch(
  reading: ReadTx,
  state: PassState,
  { update, unreadable }: UpdatePass,
  deps: UpdatePassDeps,
): Promise<ReadSubjects | undefined> {
  const page = { modelId: update.fromModelId, limit: templatesPerBatch }
  const found = await findOutdatedFaces(reading, { ...page, afterFaceId: state.afterFaceId })
  const isInRange = ({ faceId }: { readonly faceId: string }): boolean =>
    !state.isWrapped || state.startFaceId === '' || faceId <= state.startFaceId
  const faces = found.filter(isInRange)
  if (faces.length === 0) return undefined
  const subjectIds = new Set<string>()
  for (const { faceId, subjectId } of faces) {
    const isTaken = unreadable.has(faceId) || state.subjectsInWork.has(subjectId)
    if (!isTaken && !subjectIds.has(subjectId)) {
      if (subjectIds.size === state.subjectsPerBatch) break
      subjectIds.add(subjectId)
    }
    state.afterFaceId = faceId
  }
  const batch = await readOutdatedSubjects(reading, [...subjectIds], update, deps)
  const rows = batch.subjects.reduce((sum, subject) => sum + subject.rows.length, 0)
  if (rows > 0)
    state.subjectsPerBatch = Math.ceil((templatesPerBatch * batch.subjects.length) / rows)
  for (const { subjectId } of batch.subjects) state.subjectsInWork.add(subjectId)
  return batch
}

async function updateBatch(
  { subjects, unreadableFaceIds }: ReadSubjects,
  state: PassState,
  pass: UpdatePass,
  deps: UpdatePassDeps,
): Promise<void> {
  for (const faceId of unreadableFaceIds) pass.unreadable.add(faceId)
  try {
    const sealed = await sealBatch(subjects, pass)
    const byGallery = Map.groupBy(sealed, ({ galleryId }) => galleryId)
    const writes = [...byGallery].map(([galleryId, ofGallery]) =>
      writeSubjects(galleryId, ofGallery, pass, deps),
    )
    const lost = (await Promise.all(writes)).reduce((sum, count) => sum + count, 0)
    if (lost > 0) state.hasConflict = true
    if (lost > 0 && lost === subjects.length && deps.store.isShared) jump(state)
  } finally {
    eraseSubjects(subjects)
    for (const { subjectId } of subjects) state.subjectsInWork.delete(subjectId)
  }
}

/** Continues at a random face, because another server updates the faces that follow. */
function jump(state: PassState): void {
  state.startFaceId = newId()
  state.afterFaceId = state.startFaceId
  state.isWrapped = false
}

async function sealBatch(
  subjects: readonly OutdatedSubject[],
  { thread, update }: UpdatePass,
): Promise<readonly UpdatedSubject[]> {
  if (subjects.length === 0) return []
  const vectors = subjects.flatMap(({ faces }) => faces.map(({ vector }) => vector))
  const densities = await thread.measure(vectors)
  let offset = 0
  return subjects.map((subject) => {
    const own = densities.subarray(offset, (offset += subject.faces.length))
    return sealUpdatedSubject(subject, own, update)
  })
}

/** @returns the number of subjects that were changed meanwhile and not written. */
async function writeSubjects(
  galleryId: string,
  subjects: readonly UpdatedSubject[],
  { update, onUpdated }: UpdatePass,
  { store, search }: UpdatePassDeps,
): Promise<number> {
  const written = await store.write((tx) => replaceUnchangedSubjects(tx, subjects, update, search))
  onUpdated(written.reduce((sum, { templates }) => sum + templates.length, 0))
  // The memory of the search follows at once, or the next search would have to apply all changes.
  await nextEventLoopTurn()
  if (written.length > 0) await search.sync(galleryId)
  return subjects.length - written.length
}
