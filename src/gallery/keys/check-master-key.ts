import type { Store } from '../../store/database.ts'
import type { GalleryKeyRow } from '../../store/gallery-schema.ts'
import { listGalleryKeys } from '../../store/gallery/galleries.ts'
import { openKeyring, type Keyring } from './keyring.ts'
import { listStoredSecrets, type StoredSecret } from './stored-secrets.ts'
import { unwrapGalleryKey } from './subject-keys.ts'

/** Everything that master keys wrap. */
export type WrappedKeys = {
  readonly galleryKeys: readonly GalleryKeyRow[]
  readonly secrets: readonly StoredSecret[]
}

export function listWrappedKeys(store: Pick<Store, 'read'>): Promise<WrappedKeys> {
  return store.read(async (tx) => ({
    galleryKeys: await listGalleryKeys(tx),
    secrets: await listStoredSecrets(tx),
  }))
}

/** @throws Error if a master key is not in the file of the keyring. */
export function requireUnwrappable(keyring: Keyring, { galleryKeys, secrets }: WrappedKeys): void {
  for (const key of galleryKeys) unwrapGalleryKey(keyring, key)
  for (const secret of secrets) keyring.unwrap(secret, secret.binding)
}

/** @throws Error if the database was written with a master key that the file does not contain. */
export async function checkMasterKey(
  store: Pick<Store, 'read'>,
  masterKeyFile: string,
): Promise<void> {
  const keys = await listWrappedKeys(store)
  if (keys.galleryKeys.length + keys.secrets.length > 0)
    requireUnwrappable(openKeyring(masterKeyFile), keys)
}
