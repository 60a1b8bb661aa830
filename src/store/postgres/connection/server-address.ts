import { Client, DatabaseError } from 'pg'
import { HttpError } from '../../../lib/errors.ts'
import { faultOf } from './fault.ts'

/** The location of a database and the role that connects, without the password. */
export type ServerAddress = ReturnType<typeof parseServerAddress>

/**
 * Returns the parts of the URL, and as `label` the server and the database in one text.
 *
 * @throws Error that does not show the URL, which may hold a password.
 */
export function parseServerAddress(url: string) {
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

/** The longest wait for a response of the server. */
const connectTimeoutMs = 10_000

/**
 * Connects and disconnects once. A pool would keep the connection of a failed login open until the
 * server's timeout, and with it this process.
 *
 * @throws Error of the driver, which `throwExplained` explains.
 */
export async function checkConnection(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs })
  client.on('error', () => undefined) // `connect` rejects with the same error.
  try {
    await client.connect()
  } catch (error) {
    throw faultOf(error).error
  } finally {
    client.end().catch(() => undefined)
  }
}

/** Returns a function that throws a database error as one sentence, and any other error unchanged. */
export function throwExplained(address: ServerAddress): (error: unknown) => never {
  return (error) => {
    const reason = explainError(error, address)
    throw reason === undefined ? error : new Error(reason, { cause: error })
  }
}

/** Returns undefined if the error is not a database error. */
function explainError(error: unknown, address: ServerAddress): string | undefined {
  const cause = error instanceof HttpError ? error.cause : error
  if (cause instanceof DatabaseError) return explainServerError(cause, address)
  if (!(error instanceof HttpError) || cause === undefined) return undefined
  return explainNetworkError(cause, address)
}

/** Explains an error that the server reported. */
function explainServerError({ code = '', message }: DatabaseError, address: ServerAddress): string {
  const { server, database, role } = address
  const explanations: Readonly<Record<string, string>> = {
    '28P01': `${server} refuses the password of the role ${role}`,
    '28000': `${server} refuses the login of the role ${role}: ${message}`,
    '3D000': `there is no database ${database} on ${server}; create it with createdb --encoding UTF8 --template template0 --owner ${role} ${database}`,
    '42501': `the role ${role} lacks a permission in ${database} (${message}); make it the owner: alter database ${database} owner to ${role}`,
    '53100': `the disk of ${server} is full: ${message}; free space, then run the command again`,
    '53300': `${server} accepts no more connections: ${message}`,
    '57P03': `${server} is starting or shutting down: ${message}`,
  }
  return explanations[code] ?? `${server} refuses: ${message} (${code})`
}

/** Explains a failed or interrupted connection. */
function explainNetworkError(cause: unknown, { server, role }: ServerAddress): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const message = cause instanceof Error ? cause.message : String(cause)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host name of ${server} is unknown`
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return `no PostgreSQL listens on ${server}`
  if (/password must be a string/u.test(message))
    return `${server} requires a password for the role ${role}, and the URL has none`
  if (/certificate|self.signed/iu.test(message) || code.includes('CERT'))
    return `the certificate of ${server} is not trusted (${message}); name its issuer with ?sslrootcert=<file> in the URL`
  if (/does not support SSL/u.test(message))
    return `${server} does not support TLS, which the URL requires`
  return (
    `${server} does not respond: ${message || code}; its log names the cause, such as a full disk; run ` +
    'the command again when it responds'
  )
}
