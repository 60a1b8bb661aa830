import { HttpError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { ReadTx, Store } from '../../store/database.ts'
import { findFirstAccountId } from '../../store/tenancy/projects.ts'
import { type Keyring, masterKeyLock, openKeyring, unwrapGalleryKey } from './keyring.ts'
import * as keyFile from './master-key-file.ts'
import {
  findCurrentMasterKeyId,
  listGalleryKeys,
  storeCurrentMasterKeyId,
} from '../../store/gallery/galleries.ts'
import { listStoredSecrets } from './stored-secrets.ts'

type KeysLocation = {
  readonly store: Store
  readonly masterKeyFile: string
  readonly log: Pick<Log, 'warn'>
}

/**
 * Opens the master key. The first start creates it and stores its id: if a second server created
 * another one, it could not read the data of the first server.
 *
 * @throws Error if the database was written with a master key that the file does not contain.
 */
export async function openKeys({ store, masterKeyFile, log }: KeysLocation): Promise<Keyring> {
  const keys = await store.read(listWrappedKeys)
  const isFirst =
    !store.isShared || (store.isFirstServer && (await findFirstAccountId(store.db)) === undefined)
  if (isUnused(keys) && isFirst) keyFile.createMasterKeyFile(masterKeyFile)
  const keyring = openKeyring(masterKeyFile)
  requireUnwrappable(keyring, keys)
  if (keys.currentId === undefined)
    await store.write(async (tx) => {
      await tx.lock(masterKeyLock, 'exclusive')
      // Another server or a rotation may have stored another key since.
      if ((await findCurrentMasterKeyId(tx)) === undefined)
        await storeCurrentMasterKeyId(tx, keyFile.newestMasterKeyId(masterKeyFile))
    })
  if (!keyFile.isMasterKeyReadable(masterKeyFile, keys.currentId))
    log.warn({ masterKeyFile }, 'not ready: the file lacks the current master key of the database')
  return keyring
}

/** Whether the database names no master key and contains nothing that one wraps. */
function isUnused({ currentId, galleryKeys, secrets }: WrappedKeys): boolean {
  return currentId === undefined && galleryKeys.length + secrets.length === 0
}

/** Everything that master keys wrap. */
type WrappedKeys = Awaited<ReturnType<typeof listWrappedKeys>>

export async function listWrappedKeys(tx: ReadTx) {
  const currentId = await findCurrentMasterKeyId(tx)
  return { currentId, galleryKeys: await listGalleryKeys(tx), secrets: await listStoredSecrets(tx) }
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

/** @throws Error if the file lacks a master key that encrypted something, or the current one. */
export async function checkMasterKey(tx: ReadTx, masterKeyFile: string): Promise<void> {
  const keys = await listWrappedKeys(tx)
  if (isUnused(keys)) return
  requireUnwrappable(openKeyring(masterKeyFile), keys)
  keyFile.readCurrentMasterKeys(masterKeyFile, keys.currentId)
}
