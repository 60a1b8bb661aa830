import { HttpError } from '../../lib/errors.ts'
import { hasRecentActivity } from '../../store/console/audit-log.ts'
import { findUserByName, userNameKey, type ConsoleUser } from '../../store/console/users.ts'
import { sessionChallenge } from './identity.ts'
import type { ConsoleServices } from '../services.ts'

/** An address is known to a user if the audit log has an entry of the user from it this recently. */
const knownAddressMs = 30 * 86_400_000

/**
 * Returns the user with this name and password. A wrong password and an unknown, invited or disabled
 * user have the same error text, the same cost and the same throttle.
 *
 * @throws HttpError 401, or 429 after too many attempts.
 */
export async function checkPassword(
  { name, password }: { readonly name: string; readonly password: string },
  clientIp: string,
  { store, clock, signInThrottle, passwordHasher, log }: ConsoleServices,
): Promise<ConsoleUser> {
  const attempt = { nameKey: userNameKey(name), clientIp }
  const { user, isKnownAddress } = await store.read(async (tx) => {
    const user = await findUserByName(tx, name)
    const sinceMs = clock() - knownAddressMs
    const { userId } = user ?? {}
    return {
      user,
      isKnownAddress: await hasRecentActivity(tx, { userId, ip: clientIp, sinceMs }),
    }
  })
  signInThrottle.checkAllowed(attempt, isKnownAddress)
  const isCorrect = await passwordHasher.matches(password, user?.password ?? null)
  if (!user || !isCorrect || user.disabledAtUtc !== null) {
    log.info({ clientIp }, 'console sign-in failed')
    throw new HttpError(401, 'The name or the password is wrong.', { headers: sessionChallenge })
  }
  signInThrottle.recordSuccess(attempt)
  return user
}
