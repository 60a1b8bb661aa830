import { z } from 'zod'
import { HttpError } from '../../lib/errors.ts'
import { findAuditEntries } from '../../store/console/audit-log.ts'
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
import { defineRead, defineWrite, noQuery, noBody, type ConsoleContext } from '../server/route.ts'
import { setupLinkPath, createSetupLink, addUserWithoutPassword } from '../auth/setup.ts'

const role = z.enum(userRoles)

const user = z.object({
  userId: z.string(),
  name: z.string(),
  role,
  createdAtUtc: z.string(),
  lastSeenAtUtc: z.string().nullable(),
  disabled: z.boolean(),
})

const invitation = z.object({
  user,
  inviteLink: z.string().meta({ description: 'The whole address; it opens once, within a day.' }),
})

export const listTeam = defineRead({
  path: '/users',
  minimumRole: 'viewer',
  query: noQuery,
  response: z.object({ items: z.array(user) }),
  handle: async ({ identity: visitor, services: { store } }) => {
    const users = await store.read((reading) => listUsers(reading, visitor.accountId))
    return { items: users.map(toUserResponse) }
  },
})

export const inviteUser = defineWrite({
  method: 'POST',
  path: '/users',
  minimumRole: 'owner',
  auditAction: 'user.invite',
  query: noQuery,
  body: z.strictObject({ name, role }),
  response: invitation,
  handle: async ({ body, identity: visitor, services, request }, { tx }) => {
    if (await findUserByName(tx, body.name))
      throw new HttpError(409, 'There is a user of this name.')
    const nowMs = services.clock()
    const made = await addUserWithoutPassword(tx, { ...body, accountId: visitor.accountId }, nowMs)
    const inviteLink =
      request.origin + setupLinkPath(await createSetupLink(tx, made.userId, nowMs), made.name)
    return {
      response: { user: toUserResponse(made), inviteLink },
      target: made.userId,
      detail: body,
    }
  },
})

export const resendInvite = defineWrite({
  method: 'POST',
  path: '/users/:userId/invite',
  minimumRole: 'owner',
  auditAction: 'user.inviteAgain',
  query: noQuery,
  body: noBody,
  response: z.object({ inviteLink: z.string() }),
  handle: async (call, { tx }) => {
    const { userId, name } = await requireUser(tx, call)
    const token = await createSetupLink(tx, userId, call.services.clock())
    const inviteLink = call.request.origin + setupLinkPath(token, name)
    return { response: { inviteLink }, target: userId, detail: { name } }
  },
})

export const editUser = defineWrite({
  method: 'PATCH',
  path: '/users/:userId',
  minimumRole: 'owner',
  auditAction: 'user.change',
  query: noQuery,
  body: z.strictObject({ role: role.optional(), disabled: z.boolean().optional() }),
  response: user,
  handle: async (call, { tx }) => {
    const { body, identity: visitor, services } = call
    const found = await requireUser(tx, call)
    // The last owner cannot go: an owner changes others, never themselves.
    if (found.userId === visitor.userId)
      throw new HttpError(409, 'Nobody can change their own role, or disable themselves.')
    const { role = found.role, disabled } = body
    const nowUtc = new Date(services.clock()).toISOString()
    const kept = disabled ? (found.disabledAtUtc ?? nowUtc) : null
    const disabledAtUtc = disabled === undefined ? found.disabledAtUtc : kept
    await updateUser(tx, found.userId, { role, disabledAtUtc })
    if (disabledAtUtc !== null) await endUserSessions(tx, found.userId)
    const changed = toUserResponse({ ...found, role, disabledAtUtc })
    return { response: changed, target: found.userId, detail: { ...body, name: found.name } }
  },
})

async function requireUser(
  reading: ReadTx,
  { pathParameters: parts, identity: visitor }: ConsoleContext,
): Promise<ConsoleUser> {
  const found = await findUser(reading, parts['userId'] ?? '')
  if (found?.accountId === visitor.accountId) return found
  throw new HttpError(404, 'There is no such user.')
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
  find: async ({ query, identity: visitor, services: { store } }, { after, limit }) => {
    const { accountId } = visitor
    const { userId, act, fromUtc, toUtc } = query
    const times = { fromMs: fromUtc?.getTime(), toMs: toUtc?.getTime() }
    const place = after && { atMs: after[0], auditId: after[1] }
    const filter = { accountId, userId, act, ...times, after: place, limit }
    const rows = await store.read((reading) => findAuditEntries(reading, filter))
    return rows.map(({ accountId: _accountId, atMs, detail, ...row }) => ({
      item: {
        ...row,
        atUtc: new Date(atMs).toISOString(),
        // Written by write.ts, which takes an object.
        detail: JSON.parse(detail) as Record<string, unknown>,
      },
      position: [atMs, row.auditId] as const,
    }))
  },
})

export const listAudit = defineList(auditList)
export const auditCsv = defineCsv(auditList)
