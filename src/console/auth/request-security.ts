import { timingSafeEqual } from 'node:crypto'
import type { HttpRequest } from '../../http/route.ts'
import { HttpError } from '../../lib/errors.ts'
import { csrfTokenOf, type ConsoleIdentity } from './identity.ts'

/**
 * Writes come from the console's own pages alone. Browsers name the page's origin with every write,
 * and no script can change what they say.
 *
 * @throws HttpError 403
 */
export function requireSameOrigin({ headers, origin: own }: HttpRequest): void {
  const { origin, 'sec-fetch-site': site } = headers
  const isOwn = origin === undefined ? site === 'same-origin' : origin === own
  if (!isOwn || (site !== undefined && site !== 'same-origin'))
    throw new HttpError(
      403,
      `This came from ${(origin ?? 'nowhere').slice(0, 128)}, not from the console at ${own}. Behind a proxy, set TRUST_PROXY.`,
    )
}

/** @throws HttpError 403 when the write does not repeat the session's token in its header. */
export function requireCsrfToken({ headers }: HttpRequest, { token }: ConsoleIdentity): void {
  const wanted = Buffer.from(csrfTokenOf(token ?? ''))
  const sent = Buffer.from(headers['x-csrf-token'] ?? '')
  if (sent.length !== wanted.length || !timingSafeEqual(sent, wanted))
    throw new HttpError(403, 'X-Csrf-Token is missing or of another session.')
}

/**
 * Passwords and session cookies go over encrypted ways, or never leave the machine: browsers keep a
 * `Secure` cookie for https and for their own machine alone.
 *
 * @throws HttpError 403 that says what to do.
 */
export function requireSecureTransport({ origin }: HttpRequest): void {
  const { protocol, hostname } = new URL(origin)
  const isLocal = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u.test(hostname)
  if (protocol !== 'https:' && !isLocal)
    throw new HttpError(
      403,
      'The console needs https here: put a proxy with TLS before it and set TRUST_PROXY, or open it at localhost.',
    )
}
