import type { Store } from '../../../store/database.ts'
import { deleteRemovals } from '../../../store/gallery/faces.ts'
import { listGalleryIds } from '../../../store/gallery/galleries.ts'
import { createSyncGallery, type SyncGallery } from './sync.ts'
import type { ExactSearch } from './exact-search.ts'
import type { OpenGallerySearch } from '../gallery-search.ts'

/** Searches in memory, which follows the store. Resolves when every gallery is in it. */
export function openMemorySearch(exact: ExactSearch): OpenGallerySearch {
  return async (parts) => {
    const follow = createSyncGallery({ ...parts, search: exact })
    await loadGalleries(parts.store, follow)
    return {
      search: async (galleryId, { modelId, ...probe }, options) => {
        await follow(galleryId)
        return exact.search(galleryId, probe, { ...options, modelId })
      },
      size: async (galleryId, modelId) => exact.size(galleryId, modelId),
      storeVector: async () => {},
      sync: follow,
      maintain: async () => {},
    }
  }
}

/** Where this is the only server no memory is behind now: nobody needs to be told of removals. */
async function loadGalleries(store: Store, follow: SyncGallery): Promise<void> {
  if (store.isFirstServer) await store.write(deleteRemovals)
  for (const galleryId of await store.read(listGalleryIds)) await follow(galleryId)
}
