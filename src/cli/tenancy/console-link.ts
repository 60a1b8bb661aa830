import {
  addUserWithoutPassword,
  createSetupLink,
  requireEnabled,
  setupLinkPath,
} from '../../console/auth/setup.ts'
import { name as nameSchema } from '../../console/server/input.ts'
import { type ConsoleUser, findUserByName } from '../../store/console/users.ts'
import type { Store } from '../../store/database.ts'
import { auditedChange } from '../audit/audited-change.ts'
import { type CommandValues, UsageError, print } from '../command.ts'
import { publicAddress } from '../installation/service-address.ts'
import { readSettings } from '../read-settings.ts'
import { requireAccountId, withStore } from '../with-store.ts'

type LinkValues = CommandValues<never, 'account' | 'user'>

export async function createLink({ account, user, json }: LinkValues): Promise<void> {
  if ((account === undefined) !== (user === undefined))
    throw new UsageError('--account and --user belong together; pass both or none')
  const path = await withStore(async (store) => {
    const accountId = await requireAccountId(store, account)
    return user === undefined
      ? createOwnerLink(store, accountId)
      : createUserLink(store, accountId, user)
  })
  const link = `${publicAddress(readSettings())}${path}`
  print({ link }, json, () => link)
}

/** The link for an owner of the account: for this one, or for the one whose name is entered on the page. */
export function createOwnerLink(store: Store, accountId: string, user?: ConsoleUser) {
  if (user) requireEnabled(user)
  const { userId = null, name } = user ?? {}
  return auditedChange(store, 'session.createSetupLink', async ({ tx, nowMs }) => {
    const result = setupLinkPath(await createSetupLink(tx, userId, nowMs), name)
    return { result, accountId, target: userId ?? 'owner', ...(user && { detail: { name } }) }
  })
}

async function createUserLink(store: Store, accountId: string, userName: string) {
  const parsed = nameSchema.safeParse(userName)
  if (!parsed.success)
    throw new UsageError('--user must be a text of 1 to 128 characters without control characters')
  const existing = await store.read((tx) => findUserByName(tx, parsed.data))
  if (existing?.accountId === accountId && existing.role === 'owner')
    return createOwnerLink(store, accountId, existing)
  return auditedChange(store, 'user.invite', async ({ tx, nowMs }) => {
    if (await findUserByName(tx, parsed.data))
      throw new Error(`a user with the name ${parsed.data} already exists; choose another name`)
    const user = { name: parsed.data, role: 'owner', accountId } as const
    const { userId, name } = await addUserWithoutPassword(tx, user, nowMs)
    const result = setupLinkPath(await createSetupLink(tx, userId, nowMs), name)
    return { result, accountId, target: userId, detail: { name, role: user.role } }
  })
}
