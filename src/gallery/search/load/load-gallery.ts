import { availableParallelism } from 'node:os'
import type { Log } from '../../../lib/log.ts'
import type { Store, StoreLocation } from '../../../store/database.ts'
import { afterAllFaceIds, type FaceChangeCursor } from '../../../store/gallery/faces.ts'
import { findGallery } from '../../../store/gallery/galleries.ts'
import { findFaceRangeEnd } from '../../../store/gallery/search/face-ranges.ts'
import type { ExactSearch } from '../memory/exact-search.ts'
import { startOpenThread, type OpenThread } from './open-threads.ts'
import type { LoadedModels } from './read-range.ts'

/** How to open further connections for threads that load a gallery. */
export type ParallelLoad = {
  readonly location: StoreLocation
  readonly masterKeyFile: string
  /** Galleries with fewer faces are loaded without threads, whose start takes half a second. */
  readonly facesMin?: number
}

export type LoadGalleryOptions = ParallelLoad & {
  readonly store: Pick<Store, 'read'>
  readonly search: Pick<ExactSearch, 'load'>
  readonly models: LoadedModels
  readonly log: Pick<Log, 'info' | 'error'>
}

/** The state of a gallery that is loaded: all faces up to a change, without any removed before it. */
export type LoadedState = { readonly sequence: number; readonly removalsDeletedTo: number }

export const parallelFacesMin = 10_000
/** Faces that a thread reads at once, about 3 MB with their ciphertexts. */
const rangeFaces = 1_024
/** More threads than this wait for the index thread, which stores what they read. */
const threadsMax = 8
/** Faces between two progress lines in the log. */
const facesPerLogLine = 250_000

/**
 * Loads all faces of a gallery that is not in memory, with threads that read and decrypt ranges of
 * faces. A face that changes during the load may be missing or contain its earlier state. Its change
 * has a later sequence, so that it must be applied afterwards, like all changes after the result.
 *
 * @returns undefined for a small gallery, of which nothing is loaded.
 */
export async function loadGallery(
  galleryId: string,
  options: LoadGalleryOptions,
): Promise<LoadedState | undefined> {
  const { store, log, location, masterKeyFile, models, facesMin = parallelFacesMin } = options
  const gallery = await store.read((reading) => findGallery(reading, galleryId))
  if (!gallery || gallery.templateCount < facesMin) return undefined
  const { sequence, removalsDeletedTo, templateCount: total } = gallery
  const count = Math.min(availableParallelism(), threadsMax)
  const startMs = performance.now()
  log.info({ galleryId, total, threads: count }, 'loading the faces of a gallery')
  await using opened = new AsyncDisposableStack()
  const ownLocation = { ...location, connectionsMax: 1 }
  const threads = Array.from({ length: count }, () =>
    opened.use(startOpenThread({ location: ownLocation, masterKeyFile, models })),
  )
  const progress = createProgress({ galleryId, total }, log)
  const ranges = readRangeEnds(galleryId, sequence, store)
  const load = { galleryId, sequence, total, ranges, progress }
  const results = await Promise.allSettled(
    threads.map((thread) => runThread(thread, load, options)),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
  const seconds = Number(((performance.now() - startMs) / 1000).toFixed(1))
  log.info({ galleryId, loaded: progress.loaded(), seconds }, 'loaded the faces of a gallery')
  return { sequence, removalsDeletedTo }
}

type Range = { readonly after: FaceChangeCursor; readonly to: FaceChangeCursor }

type RunningLoad = {
  readonly galleryId: string
  readonly sequence: number
  readonly total: number
  readonly ranges: AsyncGenerator<Range, void>
  readonly progress: ReturnType<typeof createProgress>
}

/** Loads ranges until none are left. The ranges are given to the threads one by one. */
async function runThread(
  thread: OpenThread,
  { galleryId, sequence, total, ranges, progress }: RunningLoad,
  { search, log }: LoadGalleryOptions,
): Promise<void> {
  let stored = Promise.resolve()
  try {
    for await (const { after, to } of sharedRanges(ranges)) {
      const { packed, alerts } = await thread.read({ galleryId, after, to })
      for (const { fields, message } of alerts) log.error(fields, message)
      // The thread reads its next range while this one is stored.
      await stored
      const faces = packed.dimensions.length
      stored = search.load(galleryId, packed, { sequence, total }).then(() => progress.add(faces))
      stored.catch(() => {})
    }
  } catch (error) {
    // The other threads end after their ranges.
    await ranges.return()
    throw error
  } finally {
    await stored
  }
}

/** Unlike a loop over the generator itself, ends without closing it for the other threads. */
async function* sharedRanges(ranges: AsyncGenerator<Range, void>): AsyncGenerator<Range> {
  for (;;) {
    const next = await ranges.next()
    if (next.done) return
    yield next.value
  }
}

async function* readRangeEnds(
  galleryId: string,
  sequenceMax: number,
  store: Pick<Store, 'read'>,
): AsyncGenerator<Range, void> {
  const size = { faces: rangeFaces, sequenceMax }
  let after: FaceChangeCursor = { sequence: 0, faceId: afterAllFaceIds }
  for (;;) {
    const from = after
    const to = await store.read((reading) =>
      findFaceRangeEnd(reading, { galleryId, after: from }, size),
    )
    if (!to) return
    yield { after, to }
    after = to
  }
}

function createProgress(
  { galleryId, total }: { readonly galleryId: string; readonly total: number },
  log: Pick<Log, 'info'>,
) {
  let loaded = 0
  return {
    loaded: () => loaded,
    add: (faces: number): void => {
      const lines = Math.floor(loaded / facesPerLogLine)
      loaded += faces
      if (Math.floor(loaded / facesPerLogLine) > lines)
        log.info({ galleryId, loaded, total }, 'loading the faces of a gallery')
    },
  }
}
