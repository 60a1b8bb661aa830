import { z } from 'zod'
import { HttpError } from '../../../lib/errors.ts'
import * as storedUsers from '../../../store/console/users.ts'
import { listSecondFactors, removeSecondFactor } from '../../../store/console/second-factors.ts'
import { endUserSessions, listUserSessions } from '../../../store/console/sessions.ts'
import type { ReadTx } from '../../../store/database.ts'
import { count, invalidField, name, requireUser } from '../../server/input.ts'
import { isSessionOpen } from '../../auth/identity.ts'
import { defineRead, defineWrite } from '../../server/console-route.ts'
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
})

const invitation = z.object({
  user: userItem,
  inviteLink: z
    .string()
    .meta({ description: 'The full URL. It can be used once, within 24 hours.' }),
})

export const listTeam = defineRead({
  path: '/users',
  response: z.object({ items: z.array(userItem) }),
  handle: async ({ identity, services: { store } }) => {
    return store.read(async (tx) => {
      const users = await storedUsers.listUsers(tx, identity.accountId)
      const protectedIds = await idsWithSecondFactor(tx)
      return { items: users.map((user) => toUserResponse(user, protectedIds)) }
    })
  },
})

/** Returns the number of sessions that end when the user is disabled. */
export const countOpenSessions = defineRead({
  path: '/users/:userId/open-sessions',
  response: z.object({ count }),
  handle: async (call) => {
    const { store, clock } = call.services
    return store.read(async (tx) => {
      const { userId } = await requireUser(tx, call)
      const sessions = await listUserSessions(tx, userId)
      return { count: sessions.filter((session) => isSessionOpen(session, clock())).length }
    })
  },
})

export const inviteUser = defineWrite({
  path: '/users',
  minimumRole: 'owner',
  auditAction: 'user.invite',
  body: z.strictObject({ name, role }),
  response: invitation,
  handle: async ({ body, identity, services, request }, { tx }) => {
    if (await storedUsers.findUserByName(tx, body.name))
      throw invalidField(
        'body.name',
        'must be another name: a user with this name already exists',
        409,
      )
    const nowMs = services.clock()
    const { accountId } = identity
    const invited = await addUserWithoutPassword(tx, { ...body, accountId }, nowMs)
    const path = setupLinkPath(await createSetupLink(tx, invited.userId, nowMs), invited.name)
    const inviteLink = (services.publicUrl || request.origin) + path
    return {
      response: { user: toUserResponse(invited, new Set()), inviteLink },
      target: invited.userId,
      detail: body,
    }
  },
})

export const resendInvite = defineWrite({
  path: '/users/:userId/invite',
  minimumRole: 'owner',
  auditAction: 'user.resendInvite',
  response: z.object({ inviteLink: z.string() }),
  handle: async (call, { tx }) => {
    const user = await requireUser(tx, call)
    requireEnabled(user)
    const { userId, name } = user
    const token = await createSetupLink(tx, userId, call.services.clock())
    const inviteLink = (call.services.publicUrl || call.request.origin) + setupLinkPath(token, name)
    return { response: { inviteLink }, target: userId, detail: { name } }
  },
})

export const editUser = defineWrite({
  method: 'PATCH',
  path: '/users/:userId',
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
    const nowUtc = new Date(services.clock()).toISOString()
    const requested = disabled ? (user.disabledAtUtc ?? nowUtc) : null
    const disabledAtUtc = disabled === undefined ? user.disabledAtUtc : requested
    await storedUsers.updateUser(tx, user.userId, { role, disabledAtUtc })
    await requireOwner(tx, identity.accountId)
    if (disabledAtUtc !== null) {
      await endUserSessions(tx, user.userId)
      await storedUsers.removeInviteLinksOf(tx, user.userId)
    }
    const changed = { ...user, role, disabledAtUtc }
    const response = toUserResponse(changed, await idsWithSecondFactor(tx))
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

export const endSessionsOfUser = defineWrite({
  path: '/users/:userId/sign-out',
  minimumRole: 'owner',
  auditAction: 'user.signOut',
  handle: async (call, { tx }) => {
    const { userId, name } = await requireUser(tx, call)
    await endUserSessions(tx, userId)
    return { response: undefined, target: userId, detail: { name } }
  },
})

/** For a user who lost the authenticator app and the recovery codes. It ends the user's sessions. */
export const removeSecondFactorOfUser = defineWrite({
  path: '/users/:userId/second-factor/remove',
  minimumRole: 'owner',
  auditAction: 'user.removeSecondFactor',
  handle: async (call, { tx }) => {
    const { userId, name } = await requireUser(tx, call)
    if (userId === call.identity.userId)
      throw new HttpError(409, 'Remove your own second factor on the page Account.')
    await removeSecondFactor(tx, userId)
    await endUserSessions(tx, userId)
    return { response: undefined, target: userId, detail: { name } }
  },
})

/** The ids of the users who enter a code to sign in. */
async function idsWithSecondFactor(tx: ReadTx): Promise<ReadonlySet<string>> {
  const factors = await listSecondFactors(tx)
  return new Set(factors.flatMap(({ userId, isConfirmed }) => (isConfirmed ? [userId] : [])))
}

function toUserResponse(
  { userId, name, role, createdAtUtc, lastSeenAtUtc, disabledAtUtc }: storedUsers.ConsoleUser,
  protectedIds: ReadonlySet<string>,
) {
  const [disabled, hasSecondFactor] = [disabledAtUtc !== null, protectedIds.has(userId)]
  return { userId, name, role, createdAtUtc, lastSeenAtUtc, disabled, hasSecondFactor }
}
