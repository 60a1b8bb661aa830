import type { Store } from '../store/database.ts'
import { listGalleryKeys } from '../store/galleries.ts'
import { openKeyring } from './keyring.ts'
import { openGalleryKey } from './subject-keys.ts'

/** @throws Error when the database was written with another master key than the file holds. */
export async function checkKeys(store: Pick<Store, 'read'>, masterKeyFile: string): Promise<void> {
  const wrapped = await store.read(listGalleryKeys)
  if (wrapped.length === 0) return
  const keyring = openKeyring(masterKeyFile)
  for (const key of wrapped) openGalleryKey(keyring, key)
}
