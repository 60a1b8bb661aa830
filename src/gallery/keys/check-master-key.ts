import type { Store } from '../../store/database.ts'
import { listGalleryKeys } from '../../store/gallery/galleries.ts'
import { openKeyring } from './keyring.ts'
import { unwrapGalleryKey } from './subject-keys.ts'

/** @throws Error when the database was written with another master key than the file holds. */
export async function checkMasterKey(
  store: Pick<Store, 'read'>,
  masterKeyFile: string,
): Promise<void> {
  const wrapped = await store.read(listGalleryKeys)
  if (wrapped.length === 0) return
  const keyring = openKeyring(masterKeyFile)
  for (const key of wrapped) unwrapGalleryKey(keyring, key)
}
