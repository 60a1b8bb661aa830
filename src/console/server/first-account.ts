import { runAsAllAccounts } from '../../lib/account-context.ts'
import { HttpError } from '../../lib/errors.ts'
import { findFirstAccountId } from '../../store/tenancy/projects.ts'
import type { ConsoleContext } from './console-route.ts'

/** Returns whether the user belongs to the first account, whose users operate the installation. */
export async function isOfFirstAccount({
  identity,
  services: { store },
}: Pick<ConsoleContext, 'identity' | 'services'>): Promise<boolean> {
  return identity.accountId === (await runAsAllAccounts(() => findFirstAccountId(store.db)))
}

/** @throws HttpError 403 for users of another account. `what` is what they cannot do. */
export async function requireFirstAccount(call: ConsoleContext, what: string): Promise<void> {
  if (!(await isOfFirstAccount(call)))
    throw new HttpError(403, `Only users of the first account ${what}.`)
}
