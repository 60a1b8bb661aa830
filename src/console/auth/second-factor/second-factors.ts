import { createHash, randomBytes } from 'node:crypto'
import type { createSecondFactorSecrets } from '../../../gallery/keys/second-factor-secrets.ts'
import * as stored from '../../../store/console/second-factors.ts'
import type { ConsoleUser } from '../../../store/console/users.ts'
import type { ReadTx, Tx } from '../../../store/database.ts'
import { describeTotpSecret, findTimeStep, generateTotpSecret } from './totp.ts'

/** The second factor of users: codes of an authenticator app (TOTP, RFC 6238), and recovery codes. */
export type SecondFactors = ReturnType<typeof createSecondFactors>

type CodeAttempt = { readonly userId: string; readonly code: string; readonly nowMs: number }

/** Stores secrets encrypted. */
type SecondFactorSecrets = ReturnType<typeof createSecondFactorSecrets>

export function createSecondFactors(secrets: SecondFactorSecrets) {
  async function findStep(tx: ReadTx, { userId, code, nowMs }: CodeAttempt) {
    const factor = await stored.findSecondFactor(tx, userId)
    if (!factor) return undefined
    // People type the code as the app shows it, often in two groups.
    const digits = code.replaceAll(/\s/gu, '')
    return findTimeStep(secrets.unwrap(factor), digits, nowMs)
  }

  return {
    /** Whether sign-in requires a code. */
    isRequired: async (tx: ReadTx, userId: string): Promise<boolean> =>
      (await stored.findSecondFactor(tx, userId))?.isConfirmed === 1,
    /** Creates a secret, which sign-in does not require until `confirm`. */
    begin: async (tx: Tx, { userId, name }: Pick<ConsoleUser, 'userId' | 'name'>) => {
      const secret = generateTotpSecret()
      await secrets.replace(tx, { userId, secret })
      return describeTotpSecret(secret, name)
    },
    /** @returns the recovery codes; undefined if the code is wrong or there is no secret. */
    confirm: async (tx: Tx, attempt: CodeAttempt): Promise<readonly string[] | undefined> => {
      const step = await findStep(tx, attempt)
      if (step === undefined) return undefined
      await stored.confirmSecondFactor(tx, attempt.userId, step)
      return renewRecoveryCodes(tx, attempt.userId)
    },
    /** Replaces the recovery codes. */
    renewRecoveryCodes,
    /** Uses a code of the app, or a recovery code. @returns false if it is wrong or was used before. */
    useCode: async (tx: Tx, attempt: CodeAttempt): Promise<boolean> => {
      const step = await findStep(tx, attempt)
      if (step !== undefined) return stored.useTimeStep(tx, attempt.userId, step)
      return stored.useRecoveryCode(tx, attempt.userId, hashRecoveryCode(attempt.code))
    },
  }
}

/** Stores new codes of 80 random bits: five groups of four hexadecimal digits. */
async function renewRecoveryCodes(tx: Tx, userId: string): Promise<readonly string[]> {
  const codes = Array.from({ length: recoveryCodeCount }, () => {
    const digits = randomBytes(codeBytes).toString('hex')
    return (digits.match(new RegExp(`.{${groupChars}}`, 'gu')) ?? []).join('-')
  })
  await stored.replaceRecoveryCodes(tx, userId, codes.map(hashRecoveryCode))
  return codes
}

/** The recovery codes of a user. Each one replaces the authenticator app once. */
const recoveryCodeCount = 10

const codeBytes = 10
const groupChars = 4

/**
 * Returns the stored form of a code. 80 random bits need neither a salt nor a slow hash.
 *
 * @param code as typed: spaces, hyphens and capital letters do not matter.
 */
function hashRecoveryCode(code: string): Buffer {
  const normal = code.toLowerCase().replaceAll(/[\s-]/gu, '')
  return createHash('sha256').update(`recovery|${normal}`).digest()
}
