import { HttpError } from '../../lib/errors.ts'
import { hasRecentActivity } from '../../store/console/audit-log.ts'
import { findUserByName, userNameKey, type ConsoleUser } from '../../store/console/users.ts'
import type { ConsoleServices } from '../services.ts'

/** An address is known to an account that somebody signed in to from there within so long. */
const knownAddressMs = 30 * 86_400_000

/**
 * Whose name and password these are. Wrong passwords and unknown, invited and disabled users are all
 * the same: one text, one amount of work, one throttle.
 *
 * @throws HttpError 401, or 429 after too many guesses.
 */
export async function checkPassword(
  { name, password }: { readonly name: string; readonly password: string },
  clientIp: string,
  { store, clock, signInThrottle: throttle, passwordHasher: passwords, log }: ConsoleServices,
): Promise<ConsoleUser> {
  const guess = { nameKey: userNameKey(name), clientIp }
  const { user, isKnownPlace } = await store.read(async (reading) => {
    const user = await findUserByName(reading, name)
    const sinceMs = clock() - knownAddressMs
    const { userId } = user ?? {}
    return {
      user,
      isKnownPlace: await hasRecentActivity(reading, { userId, ip: clientIp, sinceMs }),
    }
  })
  throttle.checkAllowed(guess, isKnownPlace)
  const isRight = await passwords.matches(password, user?.password ?? null)
  if (!user || !isRight || user.disabledAtUtc !== null) {
    log.info({ clientIp }, 'somebody could not sign in to the console')
    throw new HttpError(401, 'The name or the password is wrong.')
  }
  throttle.recordSuccess(guess)
  return user
}
