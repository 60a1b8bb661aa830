import { listSecondFactors, rewrapSecondFactor } from '../../store/console/second-factors.ts'
import { listCertificateKeys, storeCertificateKey } from '../../store/tenancy/certificate-keys.ts'
import { listSessionSecrets, updateLivenessSession } from '../../store/gate/liveness-sessions.ts'
import type { ReadTx, Tx } from '../../store/database.ts'
import { listWebhookSecrets, updateWebhookSecret } from '../../store/webhooks/webhooks.ts'
import { certificateKeyBinding } from '../deletion/certificate-keys.ts'
import type { Keyring, WrappedByMasterKey } from './keyring.ts'
import { secondFactorBinding } from './second-factor-secrets.ts'
import { sessionSecretBinding } from './session-secrets.ts'
import { webhookSecretBinding } from './webhook-secrets.ts'

/**
 * Lists the secrets outside the galleries, which a master key wraps: those of webhooks, authenticator
 * apps, liveness sessions and certificates.
 */
export async function listStoredSecrets(tx: ReadTx) {
  return [
    ...describe(await listWebhookSecrets(tx), webhookSecretBinding, (on, { secretId }, wrapped) =>
      updateWebhookSecret(on, secretId, wrapped),
    ),
    ...describe(await listSecondFactors(tx), secondFactorBinding, (on, { userId }, wrapped) =>
      rewrapSecondFactor(on, userId, wrapped),
    ),
    ...describe(await listSessionSecrets(tx), sessionSecretBinding, updateLivenessSession),
    ...describe(await listCertificateKeys(tx), certificateKeyBinding, (on, key, wrapped) =>
      storeCertificateKey(on, { ...key, ...wrapped }),
    ),
  ]
}

function describe<Row extends WrappedByMasterKey>(
  rows: readonly Row[],
  bindingOf: (row: Row) => string,
  replace: (tx: Tx, row: Row, wrapped: WrappedByMasterKey) => Promise<void>,
) {
  return rows.map((row) => ({
    ...row,
    /** The ids that the ciphertext is bound to. */
    binding: bindingOf(row),
    replace: (tx: Tx, wrapped: WrappedByMasterKey) => replace(tx, row, wrapped),
  }))
}

/** Wraps all secrets that an older master key wrapped with the newest one. */
export async function rewrapStoredSecrets(tx: Tx, keyring: Keyring, masterKeyId: string) {
  const wrap = await keyring.wrapIn(tx)
  for (const secret of await listStoredSecrets(tx)) {
    if (secret.masterKeyId === masterKeyId) continue
    const plain = keyring.unwrap(secret, secret.binding)
    await secret.replace(tx, wrap(plain, secret.binding))
  }
}
