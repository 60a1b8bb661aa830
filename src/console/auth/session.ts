import { z } from 'zod'
import { HttpError } from '../../lib/errors.ts'
import {
  addSession,
  endSession,
  endUserSessions,
  deleteExpiredSessions,
} from '../../store/console/sessions.ts'
import type { Tx } from '../../store/tx.ts'
import { updateUser, findUser, hasActiveUser, type ConsoleUser } from '../../store/console/users.ts'
import { defineRead, defineWrite, noQuery, noBody, type ConsoleContext } from '../server/route.ts'
import { requireSecureTransport } from './request-security.ts'
import { checkPassword } from './check-password.ts'
import {
  csrfTokenOf,
  hashToken,
  idleMsMax,
  generateToken,
  sessionMsMax,
  sessionCookieHeader,
  type ConsoleIdentity,
} from './identity.ts'

/** The only currency of this version; amounts are its millionths. */
const currency = 'USD'

export const password = z
  .string()
  .min(12, 'must have at least 12 characters')
  .max(256, 'must have at most 256 characters')

export const session = z.object({
  state: z.enum(['setup', 'signedOut', 'signedIn']),
  user: z.object({ userId: z.string(), name: z.string(), role: z.string() }).optional(),
  csrfToken: z.string().optional(),
  currency: z.string(),
  version: z.string(),
})

export const getSession = defineRead({
  path: '/session',
  minimumRole: 'stranger',
  query: noQuery,
  response: session,
  handle: async ({ identity: visitor, services: { store, version } }) => {
    if (visitor.userId !== null) return toSessionResponse(visitor, version)
    const isSetUp = await store.read(hasActiveUser)
    return { state: isSetUp ? ('signedOut' as const) : ('setup' as const), currency, version }
  },
})

export const signIn = defineWrite({
  method: 'POST',
  path: '/sign-in',
  minimumRole: 'stranger',
  auditAction: 'session.signIn',
  query: noQuery,
  body: z.strictObject({ name: z.string().max(128), password: z.string().max(256) }),
  response: session,
  prepare: async ({ body, services, request }) => {
    requireSecureTransport(request)
    return checkPassword(body, request.clientIp, services)
  },
  handle: async ({ services, identity: visitor, prepared: user }, { tx }) => {
    // What the cookie held before opens nothing any more: nobody can plant a session.
    if (visitor.token !== undefined) await endSession(tx, hashToken(visitor.token))
    return { ...(await createSession(tx, user, services)), target: user.userId }
  },
})

export const signOut = defineWrite({
  method: 'POST',
  path: '/sign-out',
  minimumRole: 'viewer',
  auditAction: 'session.signOut',
  query: noQuery,
  body: noBody,
  response: session,
  handle: async ({ identity: visitor, services: { version } }, { tx }) => {
    if (visitor.token !== undefined) await endSession(tx, hashToken(visitor.token))
    const answer = { state: 'signedOut' as const, currency, version }
    return {
      response: answer,
      target: visitor.userId ?? '',
      headers: sessionCookieHeader(undefined),
    }
  },
})

export const changePassword = defineWrite({
  method: 'POST',
  path: '/password',
  minimumRole: 'viewer',
  auditAction: 'session.changePassword',
  query: noQuery,
  body: z.strictObject({ current: z.string().max(256), next: password }),
  response: session,
  prepare: async ({ body, identity: visitor, services, request }) => {
    const guess = { name: visitor.name, password: body.current }
    await checkPassword(guess, request.clientIp, services)
    return services.passwordHasher.hash(body.next)
  },
  handle: async ({ identity: visitor, services, prepared }, { tx }) => {
    const user = await findUser(tx, visitor.userId ?? '')
    if (!user) throw new HttpError(401, 'Sign in first.')
    await updateUser(tx, user.userId, { password: prepared })
    // Whoever else has a session of this user had the old password.
    await endUserSessions(tx, user.userId)
    return { ...(await createSession(tx, user, services)), target: user.userId }
  },
})

/** A new session of a user: its cookie, and what the browser is told. */
export async function createSession(
  tx: Tx,
  { userId, name, role, accountId }: Pick<ConsoleUser, 'userId' | 'name' | 'role' | 'accountId'>,
  { clock, version }: ConsoleContext['services'],
) {
  const nowMs = clock()
  const token = generateToken()
  await deleteExpiredSessions(tx, nowMs - sessionMsMax, nowMs - idleMsMax)
  await addSession(tx, {
    tokenHash: hashToken(token),
    userId,
    createdAtMs: nowMs,
    lastSeenAtMs: nowMs,
  })
  await updateUser(tx, userId, { lastSeenAtUtc: new Date(nowMs).toISOString() })
  const by: ConsoleIdentity = { userId, name, role, accountId, token, lastSeenAtMs: nowMs }
  return {
    response: toSessionResponse(by, version),
    actor: by,
    headers: sessionCookieHeader(token),
  }
}

function toSessionResponse({ userId, name, role, token }: ConsoleIdentity, version: string) {
  return {
    state: 'signedIn' as const,
    user: { userId: userId ?? '', name, role },
    csrfToken: csrfTokenOf(token ?? ''),
    currency,
    version,
  }
}
