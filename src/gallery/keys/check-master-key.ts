import type { Store } from '../../store/database.ts'
import { listGalleryKeys } from '../../store/gallery/galleries.ts'
import { openKeyring } from './keyring.ts'
import { listStoredSecrets } from './stored-secrets.ts'
import { unwrapGalleryKey } from './subject-keys.ts'

/** @throws Error if the database was written with a master key that the file does not contain. */
export async function checkMasterKey(
  store: Pick<Store, 'read'>,
  masterKeyFile: string,
): Promise<void> {
  const galleryKeys = await store.read(listGalleryKeys)
  const secrets = await store.read(listStoredSecrets)
  if (galleryKeys.length + secrets.length === 0) return
  const keyring = openKeyring(masterKeyFile)
  for (const key of galleryKeys) unwrapGalleryKey(keyring, key)
  for (const secret of secrets) keyring.unwrap(secret, secret.binding)
}
