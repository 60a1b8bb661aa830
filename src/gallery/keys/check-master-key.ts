import type { Store } from '../../store/database.ts'
import { listGalleryKeys } from '../../store/gallery/galleries.ts'
import { listWebhookSecrets } from '../../store/webhooks/secrets.ts'
import { openKeyring } from './keyring.ts'
import { unwrapGalleryKey } from './subject-keys.ts'
import { unwrapWebhookSecret } from './webhook-secrets.ts'

/** @throws Error if the database was written with a master key that the file does not contain. */
export async function checkMasterKey(
  store: Pick<Store, 'read'>,
  masterKeyFile: string,
): Promise<void> {
  const galleryKeys = await store.read(listGalleryKeys)
  const webhookSecrets = await store.read(listWebhookSecrets)
  if (galleryKeys.length + webhookSecrets.length === 0) return
  const keyring = openKeyring(masterKeyFile)
  for (const key of galleryKeys) unwrapGalleryKey(keyring, key)
  for (const secret of webhookSecrets) unwrapWebhookSecret(keyring, secret)
}
