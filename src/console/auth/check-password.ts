import { HttpError } from '../../lib/errors.ts'
import { hasRecentActivity } from '../../store/console/audit-log.ts'
import { findUserByName, userNameKey, type ConsoleUser } from '../../store/console/users.ts'
import { sessionChallenge } from './identity.ts'
import type { ConsoleContext } from '../server/console-route.ts'
import type { ConsoleServices } from '../services.ts'
import type { FailedSignIn, StartedAttempt } from './sign-in-throttle.ts'

/** Requires the password of the signed-in user again, with the same errors as at sign-in. */
export async function checkOwnPassword(
  { identity: { name, accountId }, request: { clientIp }, services }: ConsoleContext,
  password: string,
  auditAction: FailedSignIn['auditAction'],
): Promise<void> {
  await checkPassword({ name, password, accountId, clientIp, auditAction }, services)
}

/** An address is known to a user if the audit log has an entry of the user from it this recently. */
const knownAddressMs = 30 * 86_400_000

/** The header of a 401 response that requires a code beside the password. */
const secondFactorRequired = { 'x-second-factor': 'required' } as const

/** The name and password to check, and where they come from. */
type PasswordCheck = Pick<FailedSignIn, 'clientIp' | 'accountId' | 'auditAction'> & {
  readonly name: string
  readonly password: string
  /** The code of the second factor; null if the request contains none. Without it no code is required. */
  readonly code?: string | null
}

/**
 * Returns the user with this name and password. A wrong password and an unknown, invited or disabled
 * user have the same error text, the same cost and the same throttle.
 *
 * @throws HttpError 401, 429 after too many attempts, or 503 if too many passwords wait. Only 401
 *   counts as a failed attempt.
 */
export async function checkPassword(check: PasswordCheck, services: ConsoleServices) {
  const { name, password, accountId, clientIp, auditAction } = check
  const sinceMs = services.clock() - knownAddressMs
  const { user, isKnownAddress } = await services.store.read(async (tx) => {
    const found = await findUserByName(tx, name)
    const activity = { userId: found?.userId, ip: clientIp, sinceMs }
    return { user: found, isKnownAddress: await hasRecentActivity(tx, activity) }
  })
  const source = { clientIp, isKnownAddress }
  const { signInThrottle, passwordHasher } = services
  const attempt = signInThrottle.startAttempt({ ...source, nameKey: userNameKey(name) })
  const isCorrect = await passwordHasher
    .matches(password, user?.password ?? null, source)
    .catch((error: unknown) => {
      attempt.withdraw()
      throw error
    })
  if (!user || !isCorrect || user.disabledAtUtc !== null) {
    await services.failedSignInLog.add({ auditAction, accountId, user, clientIp })
    throw wrongPassword()
  }
  /** Whether a code of the second factor was required and used. */
  const isCodeUsed =
    check.code !== undefined && (await requireSecondFactor(check, { user, attempt }, services))
  attempt.succeed()
  return { ...user, isCodeUsed }
}

export function wrongPassword(): HttpError {
  return new HttpError(401, 'The name or the password is wrong.', { headers: sessionChallenge })
}

export function codeRequired(): HttpError {
  const detail = 'Enter the code of your authenticator app, or a recovery code.'
  return new HttpError(401, detail, { headers: { ...sessionChallenge, ...secondFactorRequired } })
}

/**
 * Requires a code if the user has a second factor. A wrong code counts as a failed attempt, a missing
 * one does not.
 *
 * @returns whether a code was required and used.
 * @throws HttpError 401; the header of a missing code states that one is required.
 */
async function requireSecondFactor(
  { code, accountId, clientIp, auditAction }: PasswordCheck,
  { user, attempt }: { readonly user: ConsoleUser; readonly attempt: StartedAttempt },
  { store, secondFactors, clock, failedSignInLog }: ConsoleServices,
): Promise<boolean> {
  const { userId } = user
  if (!(await store.read((tx) => secondFactors.isRequired(tx, userId)))) return false
  if (!code) {
    attempt.withdraw()
    throw codeRequired()
  }
  const use = { userId, code, nowMs: clock() }
  if (await store.write((tx) => secondFactors.useCode(tx, use))) return true
  await failedSignInLog.add({ auditAction, accountId, user, clientIp, isSecondFactor: true })
  const detail = 'The code is wrong or was used before. Wait for the next code of the app.'
  throw new HttpError(401, detail, { headers: { ...sessionChallenge, ...secondFactorRequired } })
}
