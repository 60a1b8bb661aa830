import { availableParallelism } from 'node:os'
import { unavailable } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { Store, StoreLocation } from '../../../store/database.ts'
import { findGallery } from '../../../store/gallery/galleries.ts'
import type { ExactSearch } from '../memory/exact-search.ts'
import { type OpenThread, listLoadRanges, startOpenThread } from './load-ranges.ts'
import { countFaces } from './packed-rows.ts'
import { modelIdsOf, type LoadedModels, type LoadRange } from './read-range.ts'
import { createPageWriter } from './write-pages.ts'

/** How to open further connections for threads that load a gallery. */
export type ParallelLoad = {
  readonly location: StoreLocation
  readonly masterKeyFile: string
  /** Galleries with fewer faces are loaded without threads, whose start takes half a second. */
  readonly facesMin?: number
  /** The faces of a page. */
  readonly pageFaces?: number
  /** The interval at which pages that were deleted are written again. */
  readonly pageIntervalMs?: number
}

export type LoadGalleryOptions = ParallelLoad & {
  readonly store: Pick<Store, 'read' | 'write' | 'checkpoint'>
  readonly search: Pick<ExactSearch, 'load'>
  readonly models: LoadedModels
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

/** The state of a gallery that is loaded: all faces up to a change, without any removed before it. */
export type LoadedState = { readonly sequence: number; readonly removalsDeletedTo: number }

export const parallelFacesMin = 10_000
/**
 * About 280 kB. A change of one face deletes its page, so a larger page is deleted more often and takes
 * longer to delete.
 */
export const pageFacesDefault = 256
/** More threads than this wait for the index thread, which stores what they read. */
const threadsMax = 8
/** Faces between two progress lines in the log. */
const facesPerLogLine = 250_000

/**
 * Loads all faces of a gallery that is not in memory, with threads that read and decrypt ranges of
 * faces. A face that changes during the load may be missing or contain its earlier state. Its change
 * has a later sequence, so that it must be applied afterwards, like all changes after the result.
 *
 * Most faces are read from pages, which contain the templates of many of them. Faces without a page
 * are decrypted one by one and then written as pages, for the next load.
 *
 * @returns undefined for a small gallery, of which nothing is loaded.
 */
export async function loadGallery(galleryId: string, options: LoadGalleryOptions) {
  const { store, log, models, facesMin = parallelFacesMin } = options
  const { pageFaces = pageFacesDefault } = options
  const gallery = await store.read((reading) => findGallery(reading, galleryId))
  if (!gallery || gallery.templateCount < facesMin) return undefined
  const { accountId, sequence, removalsDeletedTo, subjectCount, templateCount: total } = gallery
  const startMs = performance.now()
  await using opened = new AsyncDisposableStack()
  const threads = startThreads(options, opened)
  log.info({ galleryId, total, threads: threads.length }, 'loading the faces of a gallery')
  const progress = createProgress({ galleryId, total }, log)
  const scope = { galleryId, accountId, sequence, modelIds: modelIdsOf(models), pageFaces, store }
  const pages = createPageWriter(store, log)
  const load = { galleryId, sequence, subjectCount, ranges: listLoadRanges(scope), progress, pages }
  const results = await Promise.allSettled(
    threads.map((thread) => runThread(thread, load, options)),
  )
  for (const result of results)
    if (result.status === 'rejected')
      throw unavailable('The gallery cannot be loaded.', 1, result.reason)
  const pagesStored = pages.stored()
  if (pagesStored > 0) await store.checkpoint()
  const seconds = Number(((performance.now() - startMs) / 1000).toFixed(1))
  const counts = { loaded: progress.loaded(), decrypted: progress.decrypted(), pagesStored }
  log.info({ galleryId, ...counts, seconds }, 'loaded the faces of a gallery')
  return { sequence, removalsDeletedTo }
}

function startThreads(
  { location, masterKeyFile, models }: LoadGalleryOptions,
  opened: AsyncDisposableStack,
): readonly OpenThread[] {
  const count = Math.min(availableParallelism(), threadsMax)
  return Array.from({ length: count }, () =>
    opened.use(startOpenThread({ location, masterKeyFile, models })),
  )
}

type RunningLoad = {
  readonly galleryId: string
  readonly sequence: number
  readonly subjectCount: number
  readonly ranges: AsyncGenerator<LoadRange, void>
  readonly progress: ReturnType<typeof createProgress>
  readonly pages: ReturnType<typeof createPageWriter>
}

/** Loads ranges until none are left. The ranges are given to the threads one by one. */
async function runThread(
  thread: OpenThread,
  { galleryId, sequence, subjectCount, ranges, progress, pages }: RunningLoad,
  { search, log }: LoadGalleryOptions,
): Promise<void> {
  let stored = Promise.resolve()
  let written = Promise.resolve()
  try {
    for await (const range of sharedRanges(ranges)) {
      const { content, alerts } = await thread.read(range)
      for (const { fields, message } of alerts) log.error(fields, message)
      const { packed, decrypted } = content
      const faces = packed.reduce((sum, rows) => sum + countFaces(rows), 0)
      // The thread reads its next range while this one is stored and its pages are written.
      await stored
      stored = search
        .load(galleryId, packed, { sequence, subjectCount })
        .then(() => progress.add(faces, decrypted))
      stored.catch(() => {})
      await written
      written = pages.write(content)
    }
  } catch (error) {
    // The other threads end after their ranges.
    await ranges.return()
    throw error
  } finally {
    await written
    await stored
  }
}

/** Unlike a loop over the generator itself, ends without closing it for the other threads. */
async function* sharedRanges(ranges: AsyncGenerator<LoadRange, void>): AsyncGenerator<LoadRange> {
  for (;;) {
    const next = await ranges.next()
    if (next.done) return
    yield next.value
  }
}

function createProgress(
  { galleryId, total }: { readonly galleryId: string; readonly total: number },
  log: Pick<Log, 'info'>,
) {
  let loaded = 0
  let decrypted = 0
  return {
    loaded: () => loaded,
    /** Returns how many templates were decrypted with the keys of their subjects. */
    decrypted: () => decrypted,
    add: (faces: number, decryptedFaces: number): void => {
      decrypted += decryptedFaces
      const lines = Math.floor(loaded / facesPerLogLine)
      loaded += faces
      if (Math.floor(loaded / facesPerLogLine) > lines)
        log.info({ galleryId, loaded, total }, 'loading the faces of a gallery')
    },
  }
}
