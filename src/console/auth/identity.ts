import type { HttpRequest } from '../../http/route.ts'
import type { SessionRow } from '../../store/console-schema.ts'
import { findSession } from '../../store/console/sessions.ts'
import type { ReadTx } from '../../store/database.ts'
import { userRoles, type UserRole } from '../../store/console/users.ts'
import { hashToken } from './session-token.ts'

/** The access level of a route: no session required (`anonymous`), or a role and the roles above it. */
export type AccessRole = 'anonymous' | UserRole

/** The user behind a request. An anonymous one has neither an id nor a session. */
export type ConsoleIdentity = {
  readonly userId: string | null
  readonly name: string
  readonly role: AccessRole
  readonly accountId: string
  /** The session token in the cookie. */
  readonly token: string | undefined
  /** The stored time of the session's last use; 0 without a session. */
  readonly lastSeenAtMs: number
}

/** With this prefix browsers keep the cookie for this host only and send it over HTTPS only. */
const cookieName = '__Host-facegate'

/**
 * The header of a 401 response that names the required credentials. Browsers ignore the scheme and
 * show no dialog.
 */
export const sessionChallenge = {
  'www-authenticate': `Cookie realm="facegate console", cookie-name="${cookieName}"`,
} as const

/** A session ends after 30 minutes without use and 12 hours after its start. */
export const idleMsMax = 30 * 60_000
export const sessionMsMax = 12 * 3_600_000

type SessionTimes = Pick<SessionRow, 'createdAtMs' | 'lastSeenAtMs'>

/** Whether a session has not expired. */
export function isSessionOpen({ createdAtMs, lastSeenAtMs }: SessionTimes, nowMs: number): boolean {
  return nowMs < createdAtMs + sessionMsMax && nowMs < lastSeenAtMs + idleMsMax
}

const tokenPattern = /^[A-Za-z0-9_-]{43}$/u

/** Returns the user of the session cookie; undefined if there is no session or it has expired. */
export async function findIdentity(
  tx: ReadTx,
  request: HttpRequest,
  nowMs: number,
): Promise<ConsoleIdentity | undefined> {
  const token = readSessionCookie(request)
  if (token === undefined) return undefined
  const session = await findSession(tx, hashToken(token))
  if (!session || session.disabledAtUtc !== null) return undefined
  const { lastSeenAtMs } = session
  if (!isSessionOpen(session, nowMs)) return undefined
  const { userId, name, role, accountId } = session
  return { userId, name, role, accountId, token, lastSeenAtMs }
}

export function anonymousIdentity(accountId: string): ConsoleIdentity {
  return {
    userId: null,
    name: '',
    role: 'anonymous',
    accountId,
    token: undefined,
    lastSeenAtMs: 0,
  }
}

/** Whether `role` may use a route with this minimum role. */
export function isAllowed(role: AccessRole, minimumRole: AccessRole): boolean {
  if (minimumRole === 'anonymous') return true
  return role !== 'anonymous' && userRoles.indexOf(role) <= userRoles.indexOf(minimumRole)
}

/** Returns the token of the first cookie with the session's name. */
function readSessionCookie({ headers }: HttpRequest): string | undefined {
  const cookies = (headers['cookie'] ?? '').split(';').map((pair) => pair.trim())
  const sessionCookie = cookies.find((pair) => pair.startsWith(`${cookieName}=`))
  const token = sessionCookie?.slice(cookieName.length + 1)
  return token !== undefined && tokenPattern.test(token) ? token : undefined
}

/** Returns the header that sets the session cookie, or deletes it if there is no token. */
export function sessionCookieHeader(token: string | undefined): Readonly<Record<string, string>> {
  const flags = 'Path=/; Secure; HttpOnly; SameSite=Strict'
  const value = token === undefined ? '; Max-Age=0' : `${token}; Max-Age=${sessionMsMax / 1000}`
  return { 'set-cookie': `${cookieName}=${value.replace(/^; /u, '; ')}; ${flags}` }
}
