import { createHash, createHmac, randomBytes } from 'node:crypto'

/** Returns 256 random bits as text. Session tokens and one-time links use it. */
export function generateToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the stored form of a token. 256 random bits need neither a salt nor a slow hash. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/**
 * Returns the CSRF token of a session, which every write must repeat in a header. Another site can
 * neither read nor guess it.
 */
export function deriveCsrfToken(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url')
}
