import { z } from 'zod'
import { HttpError } from '../../lib/errors.ts'
import { endOtherSessions, endSession, listUserSessions } from '../../store/console/sessions.ts'
import type { SessionRow } from '../../store/console-schema.ts'
import type { Tx } from '../../store/database.ts'
import { defineRead, defineWrite, type ConsoleContext } from '../server/console-route.ts'
import { requireUser } from '../server/input.ts'
import { isSessionOpen } from './identity.ts'
import { hashToken } from './session-token.ts'

const sessionItem = z.object({
  sessionId: z.string(),
  createdAtUtc: z.string(),
  lastSeenAtUtc: z.string(),
  ip: z.string(),
  userAgent: z.string(),
  isCurrent: z.boolean(),
})

/** The sessions of the signed-in user. */
export const listSessions = defineRead('/sessions', {
  response: z.object({ items: z.array(sessionItem) }),
  handle: async ({ identity, services }) => ({
    items: await listOpenSessions(identity.userId ?? '', { identity, services }),
  }),
})

/** The sessions of another user. */
export const listSessionsOfUser = defineRead('/users/:userId/sessions', {
  minimumRole: 'owner',
  response: z.object({ items: z.array(sessionItem) }),
  handle: async (call) => {
    const { userId } = await call.services.store.read((tx) => requireUser(tx, call))
    return { items: await listOpenSessions(userId, call) }
  },
})

export const endSessionOfUser = defineWrite('/users/:userId/sessions/:sessionId', {
  method: 'DELETE',
  minimumRole: 'owner',
  auditAction: 'user.endSession',
  handle: async (call, { tx }) => {
    const { userId, name } = await requireUser(tx, call)
    const { ip } = await endSessionWithId(tx, userId, call)
    return { response: undefined, target: userId, detail: { name, ip } }
  },
})

async function listOpenSessions(
  userId: string,
  { identity, services: { store, clock } }: Pick<ConsoleContext, 'identity' | 'services'>,
) {
  const nowMs = clock()
  const ownHash = hashToken(identity.token ?? '')
  const rows = await store.read((tx) => listUserSessions(tx, userId))
  const open = rows.filter((row) => isSessionOpen(row, nowMs))
  return open.map(({ tokenHash, createdAtMs, lastSeenAtMs, ip, userAgent }) => ({
    sessionId: sessionIdOf(tokenHash),
    createdAtUtc: new Date(createdAtMs).toISOString(),
    lastSeenAtUtc: new Date(lastSeenAtMs).toISOString(),
    ip,
    userAgent,
    isCurrent: ownHash.equals(tokenHash),
  }))
}

/** Ends a session of the user. @throws HttpError 404 if there is none with the id of the path. */
async function endSessionWithId(
  tx: Tx,
  userId: string,
  { pathParameters }: Pick<ConsoleContext, 'pathParameters'>,
): Promise<SessionRow> {
  const sessions = await listUserSessions(tx, userId)
  const ended = sessions.find(
    ({ tokenHash }) => sessionIdOf(tokenHash) === pathParameters['sessionId'],
  )
  if (!ended) throw new HttpError(404, 'The user has no session with this id.')
  await endSession(tx, ended.tokenHash)
  return ended
}

export const endOwnSession = defineWrite('/sessions/:sessionId', {
  method: 'DELETE',
  minimumRole: 'viewer',
  auditAction: 'session.end',
  handle: async ({ identity, pathParameters }, { tx }) => {
    const userId = identity.userId ?? ''
    const { ip } = await endSessionWithId(tx, userId, { pathParameters })
    return { response: undefined, target: userId, detail: { ip } }
  },
})

/** Ends all sessions of the signed-in user except for the current one. */
export const signOutElsewhere = defineWrite('/sessions/sign-out-elsewhere', {
  minimumRole: 'viewer',
  auditAction: 'session.signOutElsewhere',
  handle: async ({ identity }, { tx }) => {
    const userId = identity.userId ?? ''
    await endOtherSessions(tx, userId, hashToken(identity.token ?? ''))
    return { response: undefined, target: userId }
  },
})

/** The id that the console shows. The cookie cannot be derived from it: it is the hash of the token. */
function sessionIdOf(tokenHash: Uint8Array): string {
  return Buffer.from(tokenHash).toString('base64url')
}
