import { listSecondFactors, rewrapSecondFactor } from '../../store/console/second-factors.ts'
import { listSessionSecrets, updateLivenessSession } from '../../store/gate/liveness-sessions.ts'
import type { ReadTx, Tx } from '../../store/tx.ts'
import { listWebhookSecrets, updateWebhookSecret } from '../../store/webhooks/secrets.ts'
import type { Keyring, WrappedByMasterKey } from './keyring.ts'
import { secondFactorBinding } from './second-factor-secrets.ts'
import { sessionSecretBinding } from './session-secrets.ts'
import { masterKeyLock } from './subject-keys.ts'
import { webhookSecretBinding } from './webhook-secrets.ts'

/** A secret outside the galleries, wrapped with a master key. */
export type StoredSecret = WrappedByMasterKey & {
  /** The ids that the ciphertext is bound to. */
  readonly binding: string
  readonly replace: (tx: Tx, wrapped: WrappedByMasterKey) => Promise<void>
}

/** Lists the secrets of webhooks, of authenticator apps and of liveness sessions. */
export async function listStoredSecrets(tx: ReadTx): Promise<readonly StoredSecret[]> {
  const ofWebhooks = (await listWebhookSecrets(tx)).map((secret) => ({
    ...secret,
    binding: webhookSecretBinding(secret),
    replace: (writeTx: Tx, wrapped: WrappedByMasterKey) =>
      updateWebhookSecret(writeTx, secret.secretId, wrapped),
  }))
  const ofUsers = (await listSecondFactors(tx)).map((factor) => ({
    ...factor,
    binding: secondFactorBinding(factor.userId),
    replace: (writeTx: Tx, wrapped: WrappedByMasterKey) =>
      rewrapSecondFactor(writeTx, factor.userId, wrapped),
  }))
  const ofSessions = (await listSessionSecrets(tx)).map((session) => ({
    ...session,
    binding: sessionSecretBinding(session),
    replace: (writeTx: Tx, wrapped: WrappedByMasterKey) =>
      updateLivenessSession(writeTx, session, wrapped),
  }))
  return [...ofWebhooks, ...ofUsers, ...ofSessions]
}

/** Wraps all secrets that an older master key wrapped with the newest one. */
export async function rewrapStoredSecrets(
  tx: Tx,
  keyring: Keyring,
  masterKeyId: string,
): Promise<void> {
  await tx.lock(masterKeyLock, 'shared')
  for (const secret of await listStoredSecrets(tx)) {
    if (secret.masterKeyId === masterKeyId) continue
    const plain = keyring.unwrap(secret, secret.binding)
    await secret.replace(tx, keyring.wrap(plain, secret.binding))
  }
}
