import { HttpError } from '../../lib/errors.ts'
import type { Store } from '../../store/database.ts'
import { findFirstAccountId } from '../../store/tenancy/projects.ts'
import { type Keyring, openKeyring, unwrapGalleryKey } from './keyring.ts'
import { createMasterKeyFile } from './master-key-file.ts'
import { listGalleryKeys } from '../../store/gallery/galleries.ts'
import { listStoredSecrets } from './stored-secrets.ts'

type KeysLocation = { readonly store: Store; readonly masterKeyFile: string }

/**
 * Opens the master key. The first start creates it: if a second server created another one, it could
 * not read the data of the first server.
 *
 * @throws Error if the database was written with a master key that the file does not contain.
 */
export async function openKeys({ store, masterKeyFile }: KeysLocation): Promise<Keyring> {
  const keys = await listWrappedKeys(store)
  const isEmpty = keys.galleryKeys.length + keys.secrets.length === 0
  const isFirst =
    !store.isShared || (store.isFirstServer && (await findFirstAccountId(store.db)) === undefined)
  if (isEmpty && isFirst) createMasterKeyFile(masterKeyFile)
  const keyring = openKeyring(masterKeyFile)
  requireUnwrappable(keyring, keys)
  return keyring
}

/** Everything that master keys wrap. */
type WrappedKeys = Awaited<ReturnType<typeof listWrappedKeys>>

export function listWrappedKeys(store: Pick<Store, 'read'>) {
  return store.read(async (tx) => ({
    galleryKeys: await listGalleryKeys(tx),
    secrets: await listStoredSecrets(tx),
  }))
}

/** @throws Error if a master key is not in the file of the keyring. */
export function requireUnwrappable(keyring: Keyring, { galleryKeys, secrets }: WrappedKeys): void {
  try {
    for (const key of galleryKeys) unwrapGalleryKey(keyring, key)
    for (const secret of secrets) keyring.unwrap(secret, secret.binding)
  } catch (error) {
    // The start and commands report the cause, which names the file.
    throw error instanceof HttpError && error.cause instanceof Error ? error.cause : error
  }
}

/** @throws Error if the database was written with a master key that the file does not contain. */
export async function checkMasterKey(store: Pick<Store, 'read'>, masterKeyFile: string) {
  const keys = await listWrappedKeys(store)
  if (keys.galleryKeys.length + keys.secrets.length > 0)
    requireUnwrappable(openKeyring(masterKeyFile), keys)
}
