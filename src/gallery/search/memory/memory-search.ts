import type { Store } from '../../../store/database.ts'
import { listGalleryIds } from '../../../store/gallery/galleries.ts'
import { findRemovalWatermarks, type RemovalWatermark } from '../../../store/gallery/removals.ts'
import type { ParallelLoad } from '../load/load-gallery.ts'
import { createPageMaintenance } from '../load/maintain-pages.ts'
import { loadedModelsOf } from '../load/read-range.ts'
import { createGallerySync, type GallerySync } from './sync.ts'
import type { ExactSearch } from './exact-search.ts'
import type { OpenGallerySearch } from '../gallery-search.ts'

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
          await sync(galleryId)
          const count = reloadCount(galleryId)
          const found = await exact.search(galleryId, probe, { ...options, modelId })
          // A reload that began meanwhile had emptied the index.
          if (reloadCount(galleryId) === count) return found
        }
      },
      countFaces: async (galleryId, modelIds) => {
        await reloaded(galleryId)
        const byModel = modelIds.map((modelId) => exact.size(galleryId, modelId))
        return { total: exact.size(galleryId), byModel }
      },
      storeVector: async () => {},
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

/** How often a server confirms the same removals again while another server has not applied them. */
const confirmIntervalMs = 5000

function createApplyRemovals(store: Store, { sync, sequenceOf }: GallerySync) {
  let confirmed = ''
  let confirmedMs = -Infinity
  return async (): Promise<void> => {
    const watermarks = await store.read(findRemovalWatermarks)
    for (const { galleryId, sequence } of watermarks)
      if (sequenceOf(galleryId) < sequence) await sync(galleryId)
    const key = watermarks.map(keyOf).join(' ')
    if (watermarks.length === 0) return
    const isDue = performance.now() >= confirmedMs + confirmIntervalMs
    if (key === confirmed && !isDue) return
    await store.confirmRemovals(watermarks)
    confirmed = key
    confirmedMs = performance.now()
  }
}

function keyOf({ galleryId, sequence }: RemovalWatermark): string {
  return `${galleryId} ${sequence}`
}
