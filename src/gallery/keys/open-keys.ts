import type { Store } from '../../store/database.ts'
import { findFirstAccountId } from '../../store/tenancy/projects.ts'
import { listWrappedKeys, requireUnwrappable } from './check-master-key.ts'
import { createMasterKeyFile, openKeyring, type Keyring } from './keyring.ts'

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
