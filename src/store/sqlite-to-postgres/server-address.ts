import { Client, DatabaseError } from 'pg'
import { HttpError } from '../../lib/errors.ts'
import { faultOf } from '../postgres/connection/fault.ts'

/** Where a database is and who asks, without the password. */
export type ServerAddress = {
  readonly server: string
  readonly database: string
  readonly role: string
  /** All of it in one word. */
  readonly label: string
}

/** @throws Error that does not show the URL, which may hold a password. */
export function parseServerAddress(url: string): ServerAddress {
  try {
    const { host, port, database = '', user: role = '' } = new Client({ connectionString: url })
    const server = host.startsWith('/') ? host : `${host}:${port}`
    return { server, database, role, label: `${server}/${database}` }
  } catch (cause) {
    throw new Error(
      'the URL of the database cannot be read; it is postgres://role:password@host:5432/database, ' +
        'with special characters of the password percent-encoded',
      { cause },
    )
  }
}

/** Longest wait for a server that says nothing. */
const connectTimeoutMs = 10_000

/**
 * Connects once and leaves. A pool would keep the line of a login that failed until the server's
 * patience ends, and with it this process.
 *
 * @throws Error of the database's, see `reasonOf`.
 */
export async function checkConnection(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs })
  client.on('error', () => undefined) // Of a line that breaks; whoever waits hears of it as well.
  try {
    await client.connect()
  } catch (error) {
    throw faultOf(error).error
  } finally {
    client.end().catch(() => undefined)
  }
}

/**
 * What a failure of the database means, in one sentence.
 *
 * @returns undefined when the error is none of the database's.
 */
export function explainError(error: unknown, address: ServerAddress): string | undefined {
  const cause = error instanceof HttpError ? error.cause : error
  if (cause instanceof DatabaseError) return explainServerError(cause, address)
  if (!(error instanceof HttpError)) return undefined
  return explainNetworkError(cause, address)
}

/** The server has answered, and said no. */
function explainServerError({ code = '', message }: DatabaseError, address: ServerAddress): string {
  const { server, database, role } = address
  const known: Readonly<Record<string, string>> = {
    '28P01': `${server} refuses the password of the role ${role}`,
    '28000': `${server} does not let the role ${role} in: ${message}`,
    '3D000': `there is no database ${database} on ${server}; make it with createdb --owner ${role} ${database}`,
    '42501': `the role ${role} may not do what is needed in ${database} (${message}); make it the owner: alter database ${database} owner to ${role}`,
    '53300': `${server} takes no more connections: ${message}`,
    '57P03': `${server} is just starting or ending: ${message}`,
  }
  return known[code] ?? `${server} refuses: ${message} (${code})`
}

/** Nobody has answered, or not to the end. */
function explainNetworkError(cause: unknown, { server, role }: ServerAddress): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const message = cause instanceof Error ? cause.message : String(cause)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `there is no host of the name in ${server}`
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return `no PostgreSQL listens on ${server}`
  if (/password must be a string/u.test(message))
    return `${server} wants a password of the role ${role}, and the URL has none`
  if (/certificate|self.signed/iu.test(message) || code.includes('CERT'))
    return `the certificate of ${server} is not trusted (${message}); name its issuer with ?sslrootcert=<file> in the URL`
  if (/does not support SSL/u.test(message))
    return `${server} offers no TLS, which the URL asks for`
  return `${server} does not answer: ${message || code}; when it does, run the command again`
}
