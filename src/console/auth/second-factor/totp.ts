import { Secret, TOTP } from 'otpauth'

/** 160 bits, as RFC 4226 section 4 recommends. */
const secretBytes = 20

/** The defaults of RFC 6238, which all authenticator apps support. */
const algorithm = { algorithm: 'SHA1', digits: 6, period: 30 } as const

/** Time steps before and after the current one whose codes are accepted, because clocks differ. */
const stepsTolerated = 1

const codePattern = /^\d{6}$/u

/** Creates a random secret for an authenticator app. */
export function generateTotpSecret(): Buffer {
  return Buffer.from(new Secret({ size: secretBytes }).bytes)
}

/** Returns the secret as a user types it, and the URI of the QR code. */
export function describeTotpSecret(secret: Buffer, userName: string) {
  const totp = totpOf(secret, userName)
  return { secret: totp.secret.base32, uri: totp.toString() }
}

/**
 * Returns the time step of a code: the number of 30-second periods since 1970.
 *
 * @param nowMs milliseconds since 1970.
 * @returns undefined if the code is not that of the current, the previous or the next step.
 */
export function findTimeStep(secret: Buffer, code: string, nowMs: number): number | undefined {
  if (!codePattern.test(code)) return undefined
  const totp = totpOf(secret, '')
  const delta = totp.validate({ token: code, timestamp: nowMs, window: stepsTolerated })
  return delta === null ? undefined : totp.counter({ timestamp: nowMs }) + delta
}

function totpOf(secret: Buffer, label: string): TOTP {
  // The library reads the whole memory behind the bytes, so that they are copied.
  const { buffer } = Uint8Array.from(secret)
  return new TOTP({ ...algorithm, issuer: 'Facegate', label, secret: new Secret({ buffer }) })
}
