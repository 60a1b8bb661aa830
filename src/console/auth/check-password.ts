import { HttpError } from '../../lib/errors.ts'
import { hasRecentActivity } from '../../store/console/audit-log.ts'
import { findUserByName, userNameKey, type ConsoleUser } from '../../store/console/users.ts'
import { sessionChallenge } from './identity.ts'
import type { ConsoleServices } from '../services.ts'
import type { FailedSignIn } from './failed-sign-in-log.ts'
import type { PasswordSource } from './password-queue.ts'

/** An address is known to a user if the audit log has an entry of the user from it this recently. */
const knownAddressMs = 30 * 86_400_000

/** The name and password to check, and where they come from. */
export type PasswordCheck = {
  readonly name: string
  readonly password: string
  readonly clientIp: string
  /** The account of the audit entry if no user has the name. */
  readonly accountId: string
  /** The audit action of a wrong password. */
  readonly failedAuditAction: FailedSignIn['act']
}

/**
 * Returns the user with this name and password. A wrong password and an unknown, invited or disabled
 * user have the same error text, the same cost and the same throttle.
 *
 * @throws HttpError 401, 429 after too many attempts, or 503 if too many passwords wait. Only 401
 *   counts as a failed attempt.
 */
export async function checkPassword(
  check: PasswordCheck,
  services: ConsoleServices,
): Promise<ConsoleUser> {
  const { name, password, accountId, clientIp, failedAuditAction: act } = check
  const { user, isKnownAddress } = await findUserAtAddress(check, services)
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
    await services.failedSignInLog.add({ act, accountId, user, clientIp })
    throw new HttpError(401, 'The name or the password is wrong.', { headers: sessionChallenge })
  }
  attempt.succeed()
  return user
}

async function findUserAtAddress(
  { name, clientIp }: PasswordCheck,
  { store, clock }: ConsoleServices,
): Promise<Pick<PasswordSource, 'isKnownAddress'> & { readonly user: ConsoleUser | undefined }> {
  const sinceMs = clock() - knownAddressMs
  return store.read(async (tx) => {
    const user = await findUserByName(tx, name)
    const activity = { userId: user?.userId, ip: clientIp, sinceMs }
    return { user, isKnownAddress: await hasRecentActivity(tx, activity) }
  })
}
