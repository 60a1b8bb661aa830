import { HttpError } from '../lib/errors.ts'
import { hasActedFrom } from '../store/admin-acts.ts'
import { findUserByName, nameKeyOf, type User } from '../store/users.ts'
import type { ConsoleServices } from './services.ts'

/** An address is known to an account that somebody signed in to from there within so long. */
const knownMs = 30 * 86_400_000

/**
 * Whose name and password these are. Wrong passwords and unknown, invited and disabled users are all
 * the same: one text, one amount of work, one throttle.
 *
 * @throws HttpError 401, or 429 after too many guesses.
 */
export async function userOfGuess(
  { name, password }: { readonly name: string; readonly password: string },
  clientIp: string,
  { store, clock, throttle, passwords, log }: ConsoleServices,
): Promise<User> {
  const guess = { nameKey: nameKeyOf(name), clientIp }
  const { user, isKnownPlace } = await store.read(async (reading) => {
    const user = await findUserByName(reading, name)
    const sinceMs = clock() - knownMs
    const { userId } = user ?? {}
    return { user, isKnownPlace: await hasActedFrom(reading, { userId, ip: clientIp, sinceMs }) }
  })
  throttle.admit(guess, isKnownPlace)
  const isRight = await passwords.isRight(password, user?.password ?? null)
  if (!user || !isRight || user.disabledAtUtc !== null) {
    log.info({ clientIp }, 'somebody could not sign in to the console')
    throw new HttpError(401, 'The name or the password is wrong.')
  }
  throttle.forgive(guess)
  return user
}
