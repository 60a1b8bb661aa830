import { z } from 'zod'
import { HttpError } from '../lib/errors.ts'
import { findActs } from '../store/admin-acts.ts'
import { endSessionsOf } from '../store/sessions.ts'
import { changeUser, findUser, findUserByName, listUsers, roles } from '../store/users.ts'
import type { User } from '../store/users.ts'
import type { Reading } from '../store/tx.ts'
import { id, name, range } from './fields.ts'
import { defineList, defineSheet, describeList } from './list.ts'
import { defineRead, defineWrite, noQuery, nothing, type ConsoleCall } from './route.ts'
import { linkPath, makeLink, newUser } from './setup.ts'

const role = z.enum(roles)

const user = z.object({
  userId: z.string(),
  name: z.string(),
  role,
  createdAtUtc: z.string(),
  lastSeenAtUtc: z.string().nullable(),
  disabled: z.boolean(),
})

const invited = z.object({
  user,
  inviteLink: z.string().meta({ description: 'The whole address; it opens once, within a day.' }),
})

export const listTeam = defineRead({
  path: '/users',
  who: 'viewer',
  query: noQuery,
  answer: z.object({ items: z.array(user) }),
  handle: async ({ visitor, services: { store } }) => {
    const users = await store.read((reading) => listUsers(reading, visitor.accountId))
    return { items: users.map(shown) }
  },
})

export const inviteUser = defineWrite({
  method: 'POST',
  path: '/users',
  who: 'owner',
  act: 'user.invite',
  query: noQuery,
  body: z.strictObject({ name, role }),
  answer: invited,
  handle: async ({ body, visitor, services, request }, { tx }) => {
    if (await findUserByName(tx, body.name))
      throw new HttpError(409, 'There is a user of this name.')
    const nowMs = services.clock()
    const made = await newUser(tx, { ...body, accountId: visitor.accountId }, nowMs)
    const inviteLink = request.origin + linkPath(await makeLink(tx, made.userId, nowMs), made.name)
    return { answer: { user: shown(made), inviteLink }, target: made.userId, detail: body }
  },
})

export const inviteAgain = defineWrite({
  method: 'POST',
  path: '/users/:userId/invite',
  who: 'owner',
  act: 'user.inviteAgain',
  query: noQuery,
  body: nothing,
  answer: z.object({ inviteLink: z.string() }),
  handle: async (call, { tx }) => {
    const { userId, name } = await theUser(tx, call)
    const token = await makeLink(tx, userId, call.services.clock())
    const inviteLink = call.request.origin + linkPath(token, name)
    return { answer: { inviteLink }, target: userId, detail: { name } }
  },
})

export const changeTeam = defineWrite({
  method: 'PATCH',
  path: '/users/:userId',
  who: 'owner',
  act: 'user.change',
  query: noQuery,
  body: z.strictObject({ role: role.optional(), disabled: z.boolean().optional() }),
  answer: user,
  handle: async (call, { tx }) => {
    const { body, visitor, services } = call
    const found = await theUser(tx, call)
    // The last owner cannot go: an owner changes others, never themselves.
    if (found.userId === visitor.userId)
      throw new HttpError(409, 'Nobody can change their own role, or disable themselves.')
    const { role = found.role, disabled } = body
    const nowUtc = new Date(services.clock()).toISOString()
    const kept = disabled ? (found.disabledAtUtc ?? nowUtc) : null
    const disabledAtUtc = disabled === undefined ? found.disabledAtUtc : kept
    await changeUser(tx, found.userId, { role, disabledAtUtc })
    if (disabledAtUtc !== null) await endSessionsOf(tx, found.userId)
    const changed = shown({ ...found, role, disabledAtUtc })
    return { answer: changed, target: found.userId, detail: { ...body, name: found.name } }
  },
})

async function theUser(reading: Reading, { parts, visitor }: ConsoleCall): Promise<User> {
  const found = await findUser(reading, parts['userId'] ?? '')
  if (found?.accountId === visitor.accountId) return found
  throw new HttpError(404, 'There is no such user.')
}

function shown({ userId, name, role, createdAtUtc, lastSeenAtUtc, disabledAtUtc }: User) {
  return { userId, name, role, createdAtUtc, lastSeenAtUtc, disabled: disabledAtUtc !== null }
}

const audit = describeList({
  path: '/audit',
  who: 'viewer',
  filter: z.strictObject({ userId: id.optional(), act: z.string().max(64).optional(), ...range }),
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
  place: z.tuple([z.int(), z.int()]),
  find: async ({ query, visitor, services: { store } }, { after, limit }) => {
    const { accountId } = visitor
    const { userId, act, fromUtc, toUtc } = query
    const times = { fromMs: fromUtc?.getTime(), toMs: toUtc?.getTime() }
    const place = after && { atMs: after[0], auditId: after[1] }
    const filter = { accountId, userId, act, ...times, after: place, limit }
    const rows = await store.read((reading) => findActs(reading, filter))
    return rows.map(({ accountId: _accountId, atMs, detail, ...row }) => ({
      item: {
        ...row,
        atUtc: new Date(atMs).toISOString(),
        // Written by write.ts, which takes an object.
        detail: JSON.parse(detail) as Record<string, unknown>,
      },
      place: [atMs, row.auditId] as const,
    }))
  },
})

export const listAudit = defineList(audit)
export const auditSheet = defineSheet(audit)
