import { createHash, randomBytes } from 'node:crypto'

/** The recovery codes of a user. Each one replaces the authenticator app once. */
const recoveryCodeCount = 10

const codeBytes = 10
const groupChars = 4

/** Returns new codes of 80 random bits: five groups of four hexadecimal digits. */
export function generateRecoveryCodes(): readonly string[] {
  return Array.from({ length: recoveryCodeCount }, () => {
    const digits = randomBytes(codeBytes).toString('hex')
    return (digits.match(new RegExp(`.{${groupChars}}`, 'gu')) ?? []).join('-')
  })
}

/**
 * Returns the stored form of a code. 80 random bits need neither a salt nor a slow hash.
 *
 * @param code as typed: spaces, hyphens and capital letters do not matter.
 */
export function hashRecoveryCode(code: string): Buffer {
  const normal = code.toLowerCase().replaceAll(/[\s-]/gu, '')
  return createHash('sha256').update(`recovery|${normal}`).digest()
}
