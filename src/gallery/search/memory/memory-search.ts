import type { Store } from '../../../store/database.ts'
import { deleteRemovals } from '../../../store/gallery/faces.ts'
import { listGalleryIds } from '../../../store/gallery/galleries.ts'
import { createSyncGallery, type SyncGallery } from './sync.ts'
import type { ExactSearch } from './exact-search.ts'
import type { OpenGallerySearch } from '../gallery-search.ts'

/** Opens the search in memory. Resolves when every gallery is loaded. */
export function openMemorySearch(exact: ExactSearch): OpenGallerySearch {
  return async (deps) => {
    const sync = createSyncGallery({ ...deps, search: exact })
    await loadGalleries(deps.store, sync)
    return {
      search: async (galleryId, { modelId, ...probe }, options) => {
        await sync(galleryId)
        return exact.search(galleryId, probe, { ...options, modelId })
      },
      countFaces: async (galleryId, modelIds) => ({
        total: exact.size(galleryId),
        byModel: modelIds.map((modelId) => exact.size(galleryId, modelId)),
      }),
      storeVector: async () => {},
      sync,
      maintain: async () => {},
    }
  }
}

async function loadGalleries(store: Store, sync: SyncGallery): Promise<void> {
  // No other server holds galleries in memory, so the records of removed faces are not needed.
  if (store.isFirstServer) await store.write(deleteRemovals)
  for (const galleryId of await store.read(listGalleryIds)) await sync(galleryId)
}
