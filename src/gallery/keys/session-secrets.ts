import { createHmac, randomBytes } from 'node:crypto'
import { decrypt, encrypt } from '../../lib/crypto/aes-gcm.ts'
import type { LivenessSession } from '../../store/gate/liveness-sessions.ts'
import type { Tx } from '../../store/database.ts'
import type { Keyring, WrappedByMasterKey } from './keyring.ts'

type SessionIds = Pick<LivenessSession, 'projectId' | 'sessionId'>

const sessionSecretBytes = 32

/** Creates the secret of a liveness session, wrapped with the master key. */
export async function createSessionSecret(tx: Tx, keyring: Keyring, session: SessionIds) {
  const wrap = await keyring.wrapIn(tx)
  return wrap(randomBytes(sessionSecretBytes), sessionSecretBinding(session))
}

type SessionSecret = SessionIds & WrappedByMasterKey

/** Returns the token of a session. It derives from the secret, and no database contains it. */
export function sessionTokenOf(keyring: Keyring, session: SessionSecret): string {
  return `fst_${derive(keyring, session, 'session token').toString('base64url')}`
}

export function encryptFrame(keyring: Keyring, session: SessionSecret, frame: Buffer): Buffer {
  return encrypt(derive(keyring, session, 'reference frame'), frame, sessionSecretBinding(session))
}

/** @throws Error if the ciphertext was changed or belongs to another session. */
export function decryptFrame(keyring: Keyring, session: SessionSecret, ciphertext: Uint8Array) {
  const key = derive(keyring, session, 'reference frame')
  return decrypt(key, ciphertext, sessionSecretBinding(session))
}

function derive(keyring: Keyring, session: SessionSecret, purpose: string): Buffer {
  const secret = keyring.unwrap(session, sessionSecretBinding(session))
  return createHmac('sha256', secret).update(purpose).digest()
}

/** The ids that the ciphertexts are bound to. */
export function sessionSecretBinding({ projectId, sessionId }: SessionIds): string {
  return `liveness-session|${projectId}|${sessionId}`
}
