import { timingSafeEqual } from 'node:crypto'
import type { HttpRequest } from '../../http/route.ts'
import { HttpError } from '../../lib/errors.ts'
import type { ConsoleIdentity } from './identity.ts'
import { deriveCsrfToken } from './session-token.ts'

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
