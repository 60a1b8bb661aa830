import { timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { HttpRequest } from '../../http/route.ts'
import { HttpError } from '../../lib/errors.ts'
import { currency } from '../../lib/money.ts'
import {
  addSession,
  deleteExpiredSessions,
  endSession,
  endUserAccess,
} from '../../store/console/sessions.ts'
import { type ConsoleUser, findUser, hasActiveUser, updateUser } from '../../store/console/users.ts'
import type { Tx } from '../../store/database.ts'
import { type ConsoleContext, defineRead, defineWrite } from '../server/console-route.ts'
import { checkOwnPassword, checkPassword, codeRequired, wrongPassword } from './check-password.ts'
import {
  type ConsoleIdentity,
  idleMsMax,
  sessionChallenge,
  sessionCookieHeader,
  sessionMsMax,
} from './identity.ts'
import { requireStrongPassword } from './password-strength.ts'
import { deriveCsrfToken, generateToken, hashToken } from './session-token.ts'

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

export const getSession = defineRead('/session', {
  minimumRole: 'anonymous',
  response: session,
  handle: async ({ identity, services: { store, version } }) => {
    if (identity.userId !== null) return toSessionResponse(identity, version)
    const isSetUp = await store.read(hasActiveUser)
    return { state: isSetUp ? ('signedOut' as const) : ('setup' as const), currency, version }
  },
})

export const signIn = defineWrite('/sign-in', {
  minimumRole: 'anonymous',
  auditAction: 'session.signIn',
  body: z.strictObject({
    name: z.string().trim().max(128),
    password: z.string().max(256),
    code: z.string().max(64).optional(),
  }),
  response: session,
  prepare: async ({ body, identity, services, request }) => {
    requireSecureTransport(request)
    const { code = null } = body
    const check = { ...body, code, accountId: identity.accountId, clientIp: request.clientIp }
    return checkPassword({ ...check, auditAction: 'session.signInFailed' }, services)
  },
  accountOf: ({ accountId }) => accountId,
  handle: async ({ services, request, identity, prepared: checked }, { tx }) => {
    const user = await findUser(tx, checked.userId)
    // The check of a password takes time, in which the user can be disabled or change it.
    if (!user || user.disabledAtUtc !== null || user.password !== checked.password)
      throw wrongPassword()
    // It can also enable the second factor.
    if (!checked.isCodeUsed && (await services.secondFactors.isRequired(tx, user.userId)))
      throw codeRequired()
    // Ends the session of the received cookie, which prevents session fixation.
    if (identity.token !== undefined) await endSession(tx, hashToken(identity.token))
    return { ...(await createSession(tx, user, { services, request })), target: user.userId }
  },
})

export const signOut = defineWrite('/sign-out', {
  minimumRole: 'viewer',
  auditAction: 'session.signOut',
  response: session,
  handle: async ({ identity, services: { version } }, { tx }) => {
    if (identity.token !== undefined) await endSession(tx, hashToken(identity.token))
    return {
      response: { state: 'signedOut' as const, currency, version },
      target: identity.userId ?? '',
      headers: sessionCookieHeader(undefined),
    }
  },
})

export const changePassword = defineWrite('/password', {
  minimumRole: 'viewer',
  auditAction: 'session.changePassword',
  body: z.strictObject({ current: z.string().max(256), next: password }),
  response: session,
  prepare: async (call) => {
    const { body, identity, services, request } = call
    await checkOwnPassword(call, body.current, 'session.changePasswordFailed')
    await requireStrongPassword(body.next, { userName: identity.name, path: 'body.next' })
    const source = { clientIp: request.clientIp, isKnownAddress: true }
    return services.passwordHasher.hash(body.next, source)
  },
  handle: async ({ identity, services, request, prepared: passwordHash }, { tx }) => {
    const user = await findUser(tx, identity.userId ?? '')
    if (!user) throw new HttpError(401, 'Sign in first.', { headers: sessionChallenge })
    await updateUser(tx, user.userId, { password: passwordHash })
    // The user's other sessions were started with the old password.
    await endUserAccess(tx, user.userId)
    return { ...(await createSession(tx, user, { services, request })), target: user.userId }
  },
})

const userAgentCharsMax = 256

/** Creates a session and returns its response, its user and its cookie header. */
export async function createSession(
  tx: Tx,
  { userId, name, role, accountId }: Pick<ConsoleUser, 'userId' | 'name' | 'role' | 'accountId'>,
  { services: { clock, version }, request }: Pick<ConsoleContext, 'services' | 'request'>,
) {
  const nowMs = clock()
  const token = generateToken()
  await deleteExpiredSessions(tx, nowMs - sessionMsMax, nowMs - idleMsMax)
  await addSession(tx, {
    tokenHash: hashToken(token),
    userId,
    createdAtMs: nowMs,
    lastSeenAtMs: nowMs,
    ip: request.clientIp,
    userAgent: (request.headers['user-agent'] ?? '').slice(0, userAgentCharsMax),
  })
  await updateUser(tx, userId, { lastSeenAtUtc: new Date(nowMs).toISOString() })
  const actor: ConsoleIdentity = { userId, name, role, accountId, token, lastSeenAtMs: nowMs }
  return {
    response: toSessionResponse(actor, version),
    actor,
    headers: sessionCookieHeader(token),
  }
}

function toSessionResponse({ userId, name, role, token }: ConsoleIdentity, version: string) {
  return {
    state: 'signedIn' as const,
    user: { userId: userId ?? '', name, role },
    csrfToken: deriveCsrfToken(token ?? ''),
    currency,
    version,
  }
}

/**
 * Accepts writes from the console's own pages only. Browsers send the origin of the page with every
 * write, and no script can change these headers.
 *
 * @throws HttpError 403
 */
export function requireSameOrigin({ headers, origin: consoleOrigin }: HttpRequest): void {
  const { origin, 'sec-fetch-site': site } = headers
  const isSame = origin === undefined ? site === 'same-origin' : origin === consoleOrigin
  if (!isSame || (site !== undefined && site !== 'same-origin'))
    throw new HttpError(
      403,
      `The request came from ${(origin ?? 'an unknown origin').slice(0, 128)}, not from the console at ${consoleOrigin}. Behind a proxy, set TRUST_PROXY.`,
    )
}

/** @throws HttpError 403 when the header of a write does not repeat the session's CSRF token. */
export function requireCsrfToken({ headers }: HttpRequest, { token }: ConsoleIdentity): void {
  const expected = Buffer.from(deriveCsrfToken(token ?? ''))
  const received = Buffer.from(headers['x-csrf-token'] ?? '')
  if (received.length !== expected.length || !timingSafeEqual(received, expected))
    throw new HttpError(
      403,
      'The session of this page was replaced, such as by a sign-in in another tab. Send the change again. (X-Csrf-Token does not belong to the session.)',
    )
}

/**
 * Accepts passwords over an encrypted connection or on the machine itself only. Browsers keep a
 * `Secure` cookie only for https and for their own machine.
 *
 * @throws HttpError 403 with the remedy.
 */
export function requireSecureTransport({ origin }: HttpRequest): void {
  const { protocol, hostname } = new URL(origin)
  const isLocal = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u.test(hostname)
  if (protocol !== 'https:' && !isLocal)
    throw new HttpError(
      403,
      'The console requires https at this address. Put a TLS proxy in front of it and set TRUST_PROXY, or open it at localhost.',
    )
}
