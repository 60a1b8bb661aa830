import { z } from 'zod'
import { HttpError } from '../../lib/errors.ts'
import { findAuditEntries } from '../../store/console/audit-log.ts'
import { removeInviteLinksOf } from '../../store/console/invite-links.ts'
import { endUserSessions } from '../../store/console/sessions.ts'
import {
  updateUser,
  findUser,
  findUserByName,
  listUsers,
  userRoles,
} from '../../store/console/users.ts'
import type { ConsoleUser } from '../../store/console/users.ts'
import type { ReadTx } from '../../store/tx.ts'
import { id, name, timeRange } from '../server/schemas.ts'
import { defineList, defineCsv, declareList } from '../server/list.ts'
import {
  defineRead,
  defineWrite,
  emptyQuery,
  emptyBody,
  type ConsoleContext,
} from '../server/route.ts'
import {
  setupLinkPath,
  createSetupLink,
  addUserWithoutPassword,
  requireEnabled,
} from '../auth/setup.ts'

const role = z.enum(userRoles)

const userItem = z.object({
  userId: z.string(),
  name: z.string(),
  role,
  createdAtUtc: z.string(),
  lastSeenAtUtc: z.string().nullable(),
  disabled: z.boolean(),
})

const invitation = z.object({
  user: userItem,
  inviteLink: z
    .string()
    .meta({ description: 'The full URL. It can be used once, within 24 hours.' }),
})

export const listTeam = defineRead({
  path: '/users',
  minimumRole: 'viewer',
  query: emptyQuery,
  response: z.object({ items: z.array(userItem) }),
  handle: async ({ identity, services: { store } }) => {
    const users = await store.read((tx) => listUsers(tx, identity.accountId))
    return { items: users.map(toUserResponse) }
  },
})

export const inviteUser = defineWrite({
  method: 'POST',
  path: '/users',
  minimumRole: 'owner',
  auditAction: 'user.invite',
  query: emptyQuery,
  body: z.strictObject({ name, role }),
  response: invitation,
  handle: async ({ body, identity, services, request }, { tx }) => {
    if (await findUserByName(tx, body.name))
      throw new HttpError(409, 'A user with this name already exists. Use another name.')
    const nowMs = services.clock()
    const { accountId } = identity
    const invited = await addUserWithoutPassword(tx, { ...body, accountId }, nowMs)
    const inviteLink =
      request.origin + setupLinkPath(await createSetupLink(tx, invited.userId, nowMs), invited.name)
    return {
      response: { user: toUserResponse(invited), inviteLink },
      target: invited.userId,
      detail: body,
    }
  },
})

export const resendInvite = defineWrite({
  method: 'POST',
  path: '/users/:userId/invite',
  minimumRole: 'owner',
  auditAction: 'user.resendInvite',
  query: emptyQuery,
  body: emptyBody,
  response: z.object({ inviteLink: z.string() }),
  handle: async (call, { tx }) => {
    const user = await requireUser(tx, call)
    requireEnabled(user)
    const { userId, name } = user
    const token = await createSetupLink(tx, userId, call.services.clock())
    const inviteLink = call.request.origin + setupLinkPath(token, name)
    return { response: { inviteLink }, target: userId, detail: { name } }
  },
})

export const editUser = defineWrite({
  method: 'PATCH',
  path: '/users/:userId',
  minimumRole: 'owner',
  auditAction: 'user.update',
  query: emptyQuery,
  body: z.strictObject({ role: role.optional(), disabled: z.boolean().optional() }),
  response: userItem,
  handle: async (call, { tx }) => {
    const { body, identity, services } = call
    const user = await requireUser(tx, call)
    // Only owners use this route and never on themselves, so at least one owner always remains.
    if (user.userId === identity.userId)
      throw new HttpError(409, 'You cannot change your own role or disable your own account.')
    const { role = user.role, disabled } = body
    const nowUtc = new Date(services.clock()).toISOString()
    const requested = disabled ? (user.disabledAtUtc ?? nowUtc) : null
    const disabledAtUtc = disabled === undefined ? user.disabledAtUtc : requested
    await updateUser(tx, user.userId, { role, disabledAtUtc })
    if (disabledAtUtc !== null) {
      await endUserSessions(tx, user.userId)
      await removeInviteLinksOf(tx, user.userId)
    }
    const response = toUserResponse({ ...user, role, disabledAtUtc })
    return { response, target: user.userId, detail: { ...body, name: user.name } }
  },
})

async function requireUser(
  tx: ReadTx,
  { pathParameters, identity }: ConsoleContext,
): Promise<ConsoleUser> {
  const user = await findUser(tx, pathParameters['userId'] ?? '')
  if (user?.accountId === identity.accountId) return user
  throw new HttpError(404, 'The account has no user with this id.')
}

function toUserResponse({
  userId,
  name,
  role,
  createdAtUtc,
  lastSeenAtUtc,
  disabledAtUtc,
}: ConsoleUser) {
  return { userId, name, role, createdAtUtc, lastSeenAtUtc, disabled: disabledAtUtc !== null }
}

const auditList = declareList({
  path: '/audit',
  minimumRole: 'viewer',
  filter: z.strictObject({
    userId: id.optional(),
    act: z.string().max(64).optional(),
    ...timeRange,
  }),
  item: z.object({
    auditId: z.int(),
    atUtc: z.string(),
    userId: z.string().nullable(),
    userName: z.string(),
    act: z.string(),
    target: z.string(),
    detail: z.record(z.string(), z.unknown()),
    ip: z.string(),
  }),
  position: z.tuple([z.int(), z.int()]),
  find: async ({ query, identity, services: { store } }, { after, limit }) => {
    const { accountId } = identity
    const { userId, act, fromUtc, toUtc } = query
    const times = { fromMs: fromUtc?.getTime(), toMs: toUtc?.getTime() }
    const position = after && { atMs: after[0], auditId: after[1] }
    const filter = { accountId, userId, act, ...times, after: position, limit }
    const rows = await store.read((tx) => findAuditEntries(tx, filter))
    return rows.map(({ accountId: _accountId, atMs, detail, ...row }) => ({
      item: {
        ...row,
        atUtc: new Date(atMs).toISOString(),
        // execute-write.ts stores an object.
        detail: JSON.parse(detail) as Record<string, unknown>,
      },
      position: [atMs, row.auditId] as const,
    }))
  },
})

export const listAudit = defineList(auditList)
export const auditCsv = defineCsv(auditList)
