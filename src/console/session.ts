import { z } from 'zod'
import { HttpError } from '../lib/errors.ts'
import { addSession, endSession, endSessionsOf, forgetSessions } from '../store/sessions.ts'
import type { Tx } from '../store/tx.ts'
import { changeUser, findUser, isAnybodyThere, type User } from '../store/users.ts'
import { defineRead, defineWrite, noQuery, nothing, type ConsoleCall } from './route.ts'
import { refuseUnencrypted } from './same-origin.ts'
import { userOfGuess } from './guess.ts'
import {
  csrfTokenOf,
  hashToken,
  idleMsMax,
  newToken,
  sessionMsMax,
  setCookie,
  type Visitor,
} from './visitor.ts'

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
  who: 'stranger',
  query: noQuery,
  answer: session,
  handle: async ({ visitor, services: { store, version } }) => {
    if (visitor.userId !== null) return sessionOf(visitor, version)
    const isSetUp = await store.read(isAnybodyThere)
    return { state: isSetUp ? ('signedOut' as const) : ('setup' as const), currency, version }
  },
})

export const signIn = defineWrite({
  method: 'POST',
  path: '/sign-in',
  who: 'stranger',
  act: 'session.signIn',
  query: noQuery,
  body: z.strictObject({ name: z.string().max(128), password: z.string().max(256) }),
  answer: session,
  prepare: async ({ body, services, request }) => {
    refuseUnencrypted(request)
    return userOfGuess(body, request.clientIp, services)
  },
  handle: async ({ services, visitor, prepared: user }, { tx }) => {
    // What the cookie held before opens nothing any more: nobody can plant a session.
    if (visitor.token !== undefined) await endSession(tx, hashToken(visitor.token))
    return { ...(await beginSession(tx, user, services)), target: user.userId }
  },
})

export const signOut = defineWrite({
  method: 'POST',
  path: '/sign-out',
  who: 'viewer',
  act: 'session.signOut',
  query: noQuery,
  body: nothing,
  answer: session,
  handle: async ({ visitor, services: { version } }, { tx }) => {
    if (visitor.token !== undefined) await endSession(tx, hashToken(visitor.token))
    const answer = { state: 'signedOut' as const, currency, version }
    return { answer, target: visitor.userId ?? '', headers: setCookie(undefined) }
  },
})

export const changePassword = defineWrite({
  method: 'POST',
  path: '/password',
  who: 'viewer',
  act: 'session.changePassword',
  query: noQuery,
  body: z.strictObject({ current: z.string().max(256), next: password }),
  answer: session,
  prepare: async ({ body, visitor, services, request }) => {
    const guess = { name: visitor.name, password: body.current }
    await userOfGuess(guess, request.clientIp, services)
    return services.passwords.hash(body.next)
  },
  handle: async ({ visitor, services, prepared }, { tx }) => {
    const user = await findUser(tx, visitor.userId ?? '')
    if (!user) throw new HttpError(401, 'Sign in first.')
    await changeUser(tx, user.userId, { password: prepared })
    // Whoever else has a session of this user had the old password.
    await endSessionsOf(tx, user.userId)
    return { ...(await beginSession(tx, user, services)), target: user.userId }
  },
})

/** A new session of a user: its cookie, and what the browser is told. */
export async function beginSession(
  tx: Tx,
  { userId, name, role, accountId }: Pick<User, 'userId' | 'name' | 'role' | 'accountId'>,
  { clock, version }: ConsoleCall['services'],
) {
  const nowMs = clock()
  const token = newToken()
  await forgetSessions(tx, nowMs - sessionMsMax, nowMs - idleMsMax)
  await addSession(tx, {
    tokenHash: hashToken(token),
    userId,
    createdAtMs: nowMs,
    lastSeenAtMs: nowMs,
  })
  await changeUser(tx, userId, { lastSeenAtUtc: new Date(nowMs).toISOString() })
  const by: Visitor = { userId, name, role, accountId, token, lastSeenAtMs: nowMs }
  return { answer: sessionOf(by, version), by, headers: setCookie(token) }
}

function sessionOf({ userId, name, role, token }: Visitor, version: string) {
  return {
    state: 'signedIn' as const,
    user: { userId: userId ?? '', name, role },
    csrfToken: csrfTokenOf(token ?? ''),
    currency,
    version,
  }
}
