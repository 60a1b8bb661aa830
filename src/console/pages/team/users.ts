import { z } from 'zod'
import { formatUtc } from '../../../lib/clock.ts'
import { HttpError } from '../../../lib/errors.ts'
import { commandLineName } from '../../../store/console/audit-log.ts'
import * as storedUsers from '../../../store/console/users.ts'
import { listSecondFactors, removeSecondFactor } from '../../../store/console/second-factors.ts'
import * as storedSessions from '../../../store/console/sessions.ts'
import type { ReadTx, Tx } from '../../../store/database.ts'
import { count, invalidField, name, requireUser } from '../../server/input.ts'
import { isSessionOpen } from '../../auth/identity.ts'
import { type ConsoleContext, defineRead, defineWrite } from '../../server/console-route.ts'
import {
  setupLinkPath,
  createSetupLink,
  addUserWithoutPassword,
  requireEnabled,
} from '../../auth/setup.ts'

const role = z.enum(storedUsers.userRoles)

const userItem = z.object({
  userId: z.string(),
  name: z.string(),
  role,
  createdAtUtc: z.string(),
  lastSeenAtUtc: z.string().nullable(),
  disabled: z.boolean(),
  hasSecondFactor: z.boolean(),
  openLink: z
    .object({ expiresAtUtc: z.string(), createdBy: z.string() })
    .nullable()
    .meta({ description: 'An unused link that sets the password of the user.' }),
})

const invitation = z.object({
  user: userItem,
  inviteLink: z
    .string()
    .meta({ description: 'The full URL. It can be used once, within 24 hours.' }),
})

export const listTeam = defineRead('/users', {
  response: z.object({ items: z.array(userItem) }),
  handle: async ({ identity, services: { store, clock } }) => {
    return store.read(async (tx) => {
      const users = await storedUsers.listUsers(tx, identity.accountId)
      return { items: users.map(await createUserMapper(tx, clock())) }
    })
  },
})

/** Returns the number of sessions that end when the user is disabled. */
export const countOpenSessions = defineRead('/users/:userId/open-sessions', {
  response: z.object({ count }),
  handle: async (call) => {
    const { store, clock } = call.services
    return store.read(async (tx) => {
      const { userId } = await requireUser(tx, call)
      const sessions = await storedSessions.listUserSessions(tx, userId)
      return { count: sessions.filter((session) => isSessionOpen(session, clock())).length }
    })
  },
})

export const inviteUser = defineWrite('/users', {
  minimumRole: 'owner',
  auditAction: 'user.invite',
  body: z.strictObject({ name, role }),
  response: invitation,
  handle: async (call, { tx }) => {
    const { body, identity, services } = call
    const nowMs = services.clock()
    const { accountId } = identity
    const invited = await addUserWithoutPassword(tx, { ...body, accountId }, nowMs)
    const inviteLink = await createInviteLink(tx, invited, call)
    const user = (await createUserMapper(tx, nowMs))(invited)
    return { response: { user, inviteLink }, target: invited.userId, detail: body }
  },
})

export const resendInvite = defineWrite('/users/:userId/invite', {
  minimumRole: 'owner',
  auditAction: 'user.resendInvite',
  response: z.object({ inviteLink: z.string() }),
  handle: async (call, { tx }) => {
    const user = await requireUser(tx, call)
    requireEnabled(user)
    const { userId, name } = user
    // The own password is changed with the current one, which a stolen session does not have.
    if (userId === call.identity.userId)
      throw new HttpError(409, 'Change your own password on the page Account.')
    const inviteLink = await createInviteLink(tx, user, call)
    return { response: { inviteLink }, target: userId, detail: { name } }
  },
})

/** Creates a link in the name of the signed-in owner and returns its full URL. */
async function createInviteLink(
  tx: Tx,
  { userId, name }: storedUsers.ConsoleUser,
  { identity, services, request }: ConsoleContext,
): Promise<string> {
  const token = await createSetupLink(tx, userId, services.clock(), identity.userId)
  return (services.publicUrl || request.origin) + setupLinkPath(token, name)
}

export const revokeInvite = defineWrite('/users/:userId/invite', {
  method: 'DELETE',
  minimumRole: 'owner',
  auditAction: 'user.revokeInvite',
  body: z.strictObject({ confirm: z.string().max(128) }),
  handle: async (call, { tx }) => {
    const { userId, name } = await requireUser(tx, call)
    if (call.body.confirm !== name) throw invalidField('body.confirm', 'must repeat the user name')
    if (!(await storedUsers.removeInviteLink(tx, userId)))
      throw new HttpError(404, 'The user has no open link.')
    return { response: undefined, target: userId, detail: { name } }
  },
})

export const editUser = defineWrite('/users/:userId', {
  method: 'PATCH',
  minimumRole: 'owner',
  auditAction: 'user.update',
  body: z.strictObject({ role: role.optional(), disabled: z.boolean().optional() }),
  response: userItem,
  handle: async (call, { tx }) => {
    const { body, identity, services } = call
    const user = await requireUser(tx, call)
    if (user.userId === identity.userId)
      throw new HttpError(409, 'You cannot change your own role or disable your own account.')
    const { role = user.role, disabled } = body
    const nowMs = services.clock()
    const nowUtc = new Date(nowMs).toISOString()
    const requested = disabled ? (user.disabledAtUtc ?? nowUtc) : null
    const disabledAtUtc = disabled === undefined ? user.disabledAtUtc : requested
    await storedUsers.updateUser(tx, user.userId, { role, disabledAtUtc })
    await requireOwner(tx, identity.accountId)
    if (disabledAtUtc !== null) await storedSessions.endUserAccess(tx, user.userId)
    if (role !== 'owner') await storedUsers.removeCreatedLinks(tx, user.userId)
    const response = (await createUserMapper(tx, nowMs))({ ...user, role, disabledAtUtc })
    return { response, target: user.userId, detail: { ...body, name: user.name } }
  },
})

/** @throws HttpError 409 if the account has no owner who can sign in. */
async function requireOwner(tx: ReadTx, accountId: string): Promise<void> {
  const users = await storedUsers.listUsers(tx, accountId)
  const isOwner = (user: storedUsers.ConsoleUser) =>
    user.role === 'owner' && user.disabledAtUtc === null
  if (!users.some((user) => isOwner(user) && user.password !== null))
    throw new HttpError(409, 'The account must keep an owner who can sign in.')
}

export const endSessionsOfUser = defineWrite('/users/:userId/sign-out', {
  minimumRole: 'owner',
  auditAction: 'user.signOut',
  handle: async (call, { tx }) => {
    const { userId, name } = await requireUser(tx, call)
    await storedSessions.endUserSessions(tx, userId)
    return { response: undefined, target: userId, detail: { name } }
  },
})

/** For a user who lost the authenticator app and the recovery codes. It ends the user's sessions. */
export const removeSecondFactorOfUser = defineWrite('/users/:userId/second-factor/remove', {
  minimumRole: 'owner',
  auditAction: 'user.removeSecondFactor',
  handle: async (call, { tx }) => {
    const { userId, name } = await requireUser(tx, call)
    if (userId === call.identity.userId)
      throw new HttpError(409, 'Remove your own second factor on the page Account.')
    await removeSecondFactor(tx, userId)
    await storedSessions.endUserSessions(tx, userId)
    return { response: undefined, target: userId, detail: { name } }
  },
})

/** Returns a function that adds the second factor and the open link to a user. */
async function createUserMapper(tx: ReadTx, nowMs: number) {
  const factors = await listSecondFactors(tx)
  const protectedIds = new Set(factors.flatMap((row) => (row.isConfirmed ? [row.userId] : [])))
  const links = await storedUsers.listOpenLinks(tx, nowMs)
  return ({ disabledAtUtc, ...user }: storedUsers.ConsoleUser): z.input<typeof userItem> => {
    const { userId, name, role, createdAtUtc, lastSeenAtUtc } = user
    const [disabled, hasSecondFactor] = [disabledAtUtc !== null, protectedIds.has(userId)]
    const link = links.find((row) => row.userId === userId)
    const openLink = link
      ? {
          expiresAtUtc: formatUtc(link.expiresAtMs),
          createdBy: link.creatorName ?? commandLineName,
        }
      : null
    return { userId, name, role, createdAtUtc, lastSeenAtUtc, disabled, hasSecondFactor, openLink }
  }
}
