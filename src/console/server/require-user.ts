import { HttpError } from '../../lib/errors.ts'
import { findUser, type ConsoleUser } from '../../store/console/users.ts'
import type { ReadTx } from '../../store/database.ts'
import type { ConsoleContext } from './console-route.ts'

/** Returns the user of the path parameter. @throws HttpError 404 if the account has no such user. */
export async function requireUser(
  tx: ReadTx,
  { pathParameters, identity }: ConsoleContext,
): Promise<ConsoleUser> {
  const user = await findUser(tx, pathParameters['userId'] ?? '')
  if (user?.accountId === identity.accountId) return user
  throw new HttpError(404, 'The account has no user with this id.')
}
