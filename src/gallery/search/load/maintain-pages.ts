import type { Log } from '../../../lib/log.ts'
import type { Store } from '../../../store/database.ts'
import { findNewestGalleryKey, listLargeGalleries } from '../../../store/gallery/galleries.ts'
import { pageFacesDefault, parallelFacesMin, type ParallelLoad } from './load-gallery.ts'
import { listLoadRanges, startOpenThread } from './load-ranges.ts'
import { modelIdsOf, type LoadedModels, type LoadRange } from './read-range.ts'
import { createPageWriter } from './write-pages.ts'

export type PageMaintenanceOptions = ParallelLoad & {
  readonly store: Pick<Store, 'read' | 'write'>
  readonly models: () => LoadedModels
  readonly log: Pick<Log, 'warn' | 'error'>
}

const intervalDefaultMs = 10 * 60_000
/** Pages of a gallery that are written at once: about two seconds of processor time of a thread. */
const pagesMax = 200

/**
 * Returns a function that writes the pages of large galleries again that changes have deleted, so
 * that the next start need not decrypt their faces one by one. Each interval it writes a limited
 * number of them, in a thread, and only if the gallery or its key has changed.
 */
export function createPageMaintenance(options: PageMaintenanceOptions) {
  const { store, facesMin = parallelFacesMin, pageIntervalMs = intervalDefaultMs } = options
  /** Gallery → the state in which all its pages were tried. A key rotation deletes them. */
  const triedStates = new Map<string, string>()
  let lastMs = performance.now()
  return async (signal: AbortSignal): Promise<void> => {
    if (performance.now() < lastMs + pageIntervalMs) return
    lastMs = performance.now()
    const galleries = await store.read((reading) => listLargeGalleries(reading, facesMin))
    for (const gallery of galleries) {
      if (signal.aborted) return
      const { galleryId, sequence } = gallery
      const key = await store.read((reading) => findNewestGalleryKey(reading, galleryId))
      const state = `${sequence} ${key?.keyId ?? ''}`
      if (triedStates.get(galleryId) === state) continue
      if (await writeMissingPages(gallery, options, signal)) triedStates.set(galleryId, state)
    }
  }
}

/** @returns whether no further ranges are left. */
async function writeMissingPages(
  gallery: Pick<LoadRange, 'galleryId' | 'accountId'> & { readonly sequence: number },
  {
    store,
    log,
    models: currentModels,
    pageFaces = pageFacesDefault,
    location,
    masterKeyFile,
  }: PageMaintenanceOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const models = currentModels()
  const ranges: LoadRange[] = []
  const scope = { ...gallery, modelIds: modelIdsOf(models), pageFaces, store }
  for await (const range of listLoadRanges(scope)) {
    if (range.becomesPage && !range.hasPages) ranges.push(range)
    if (ranges.length === pagesMax || signal.aborted) break
  }
  if (ranges.length === 0) return true
  await using thread = startOpenThread({ location, masterKeyFile, models })
  const writer = createPageWriter(store, log)
  for (const range of ranges) {
    if (signal.aborted) return false
    const { content, alerts } = await thread.read(range)
    for (const { bytes } of content.packed) new Uint8Array(bytes).fill(0)
    for (const { fields, message } of alerts) log.error(fields, message)
    await writer.write(content)
  }
  return ranges.length < pagesMax
}
