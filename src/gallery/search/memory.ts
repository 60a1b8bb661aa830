import type { Store } from '../../store/database.ts'
import { forgetRemovals } from '../../store/faces.ts'
import { listGalleryIds } from '../../store/galleries.ts'
import { createFollow, type Follow } from '../follow.ts'
import type { ExactSearch } from './exact.ts'
import type { OpenGallerySearch } from './gallery-search.ts'

/** Searches in memory, which follows the store. Resolves when every gallery is in it. */
export function openMemorySearch(exact: ExactSearch): OpenGallerySearch {
  return async (parts) => {
    const follow = createFollow({ ...parts, search: exact })
    await load(parts.store, follow)
    return {
      search: async (galleryId, { modelId, ...probe }, options) => {
        await follow(galleryId)
        return exact.search(galleryId, probe, { ...options, modelId })
      },
      size: async (galleryId, modelId) => exact.size(galleryId, modelId),
      remember: async () => {},
      follow,
      tend: async () => {},
    }
  }
}

/** At the start no memory is behind, so that nobody needs to be told of removals; but other servers' may be. */
async function load(store: Store, follow: Follow): Promise<void> {
  if (store.isFirst) await store.write(forgetRemovals)
  for (const galleryId of await store.read(listGalleryIds)) await follow(galleryId)
}
