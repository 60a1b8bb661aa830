import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { HttpRequest } from '../../http/route.ts'
import { findSession } from '../../store/console/sessions.ts'
import type { ReadTx } from '../../store/tx.ts'
import { userRoles, type UserRole } from '../../store/console/users.ts'

/** Who may use a route: everybody (`stranger`), or a role and those above it. */
export type AccessRole = 'stranger' | UserRole

/** Who asks. A stranger has neither id nor session. */
export type ConsoleIdentity = {
  readonly userId: string | null
  readonly name: string
  readonly role: AccessRole
  readonly accountId: string
  /** What the cookie holds. */
  readonly token: string | undefined
  /** When the session was last noted to be in use; 0 for a stranger. */
  readonly lastSeenAtMs: number
}

/** The prefix makes browsers keep it for this host alone and send it over encrypted ways only. */
const cookieName = '__Host-facegate'

/** A session ends when it was not used for so long, and so long after its beginning. */
export const idleMsMax = 30 * 60_000
export const sessionMsMax = 12 * 3_600_000

const tokenPattern = /^[A-Za-z0-9_-]{43}$/u

/** 256 random bits. Session tokens and one-time links are made of it. */
export function generateToken(): string {
  return randomBytes(32).toString('base64url')
}

/** What the database keeps of a token. 256 random bits need no salt and no slow hash. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** The token that writes must repeat in a header: another site can neither read nor guess it. */
export function csrfTokenOf(token: string): string {
  return createHmac('sha256', token).update('csrf').digest('base64url')
}

/** Whose session the cookie opens; undefined when there is none, or it is over. */
export async function findIdentity(
  reading: ReadTx,
  request: HttpRequest,
  nowMs: number,
): Promise<ConsoleIdentity | undefined> {
  const token = readSessionCookie(request)
  if (token === undefined) return undefined
  const found = await findSession(reading, hashToken(token))
  if (!found || found.disabledAtUtc !== null) return undefined
  const { createdAtMs, lastSeenAtMs } = found
  if (nowMs >= createdAtMs + sessionMsMax || nowMs >= lastSeenAtMs + idleMsMax) return undefined
  const { userId, name, role, accountId } = found
  return { userId, name, role, accountId, token, lastSeenAtMs }
}

export function anonymousIdentity(accountId: string): ConsoleIdentity {
  return { userId: null, name: '', role: 'stranger', accountId, token: undefined, lastSeenAtMs: 0 }
}

/** Whether a role is enough for a route. */
export function isAllowed(role: AccessRole, who: AccessRole): boolean {
  if (who === 'stranger') return true
  return role !== 'stranger' && userRoles.indexOf(role) <= userRoles.indexOf(who)
}

/** The token of the session's cookie. @param request of which the first cookie of the name counts. */
function readSessionCookie({ headers }: HttpRequest): string | undefined {
  const cookies = (headers['cookie'] ?? '').split(';').map((pair) => pair.trim())
  const own = cookies.find((pair) => pair.startsWith(`${cookieName}=`))
  const token = own?.slice(cookieName.length + 1)
  return token !== undefined && tokenPattern.test(token) ? token : undefined
}

/** The header that sets the cookie, or takes it away. */
export function sessionCookieHeader(token: string | undefined): Readonly<Record<string, string>> {
  const flags = 'Path=/; Secure; HttpOnly; SameSite=Strict'
  const value = token === undefined ? '; Max-Age=0' : `${token}; Max-Age=${sessionMsMax / 1000}`
  return { 'set-cookie': `${cookieName}=${value.replace(/^; /u, '; ')}; ${flags}` }
}
