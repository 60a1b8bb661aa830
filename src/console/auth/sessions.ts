import { z } from 'zod'
import { HttpError } from '../../lib/errors.ts'
import { endOtherSessions, endSession, listUserSessions } from '../../store/console/sessions.ts'
import { defineRead, defineWrite, emptyBody, emptyQuery } from '../server/route.ts'
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
export const listSessions = defineRead({
  path: '/sessions',
  minimumRole: 'viewer',
  query: emptyQuery,
  response: z.object({ items: z.array(sessionItem) }),
  handle: async ({ identity, services: { store, clock } }) => {
    const nowMs = clock()
    const ownHash = hashToken(identity.token ?? '')
    const rows = await store.read((tx) => listUserSessions(tx, identity.userId ?? ''))
    const open = rows.filter((row) => isSessionOpen(row, nowMs))
    return {
      items: open.map(({ tokenHash, createdAtMs, lastSeenAtMs, ip, userAgent }) => ({
        sessionId: sessionIdOf(tokenHash),
        createdAtUtc: new Date(createdAtMs).toISOString(),
        lastSeenAtUtc: new Date(lastSeenAtMs).toISOString(),
        ip,
        userAgent,
        isCurrent: ownHash.equals(tokenHash),
      })),
    }
  },
})

export const endOwnSession = defineWrite({
  method: 'DELETE',
  path: '/sessions/:sessionId',
  minimumRole: 'viewer',
  auditAction: 'session.end',
  query: emptyQuery,
  body: emptyBody,
  response: z.undefined(),
  handle: async ({ identity, pathParameters }, { tx }) => {
    const userId = identity.userId ?? ''
    const sessions = await listUserSessions(tx, userId)
    const ended = sessions.find(
      ({ tokenHash }) => sessionIdOf(tokenHash) === pathParameters['sessionId'],
    )
    if (!ended) throw new HttpError(404, 'You have no session with this id.')
    await endSession(tx, ended.tokenHash)
    return { response: undefined, target: userId, detail: { ip: ended.ip } }
  },
})

/** Ends all sessions of the signed-in user except for the current one. */
export const signOutElsewhere = defineWrite({
  method: 'POST',
  path: '/sessions/sign-out-elsewhere',
  minimumRole: 'viewer',
  auditAction: 'session.signOutElsewhere',
  query: emptyQuery,
  body: emptyBody,
  response: z.undefined(),
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
