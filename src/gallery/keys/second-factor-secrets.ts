import { replaceSecondFactor, type SecondFactor } from '../../store/console/second-factors.ts'
import type { Tx } from '../../store/database.ts'
import type { Keyring } from './keyring.ts'

/** Stores the secrets of authenticator apps, wrapped with the master key. */
export function createSecondFactorSecrets(keyring: Keyring) {
  return {
    replace: async (
      tx: Tx,
      { userId, secret }: { readonly userId: string; readonly secret: Buffer },
    ): Promise<void> => {
      const wrap = await keyring.wrapIn(tx)
      const wrapped = wrap(secret, secondFactorBinding({ userId }))
      await replaceSecondFactor(tx, { userId, ...wrapped })
    },
    /** @throws Error if the master key that wrapped it is not in the file. */
    unwrap: (factor: SecondFactor): Buffer => keyring.unwrap(factor, secondFactorBinding(factor)),
  }
}

/** The ids that the ciphertext is bound to. */
export function secondFactorBinding({ userId }: Pick<SecondFactor, 'userId'>): string {
  return `second-factor|${userId}`
}
