import { DatabaseError } from 'pg'
import { databaseUnavailable } from '../../../lib/database-unavailable.ts'
import { HttpError, unavailable } from '../../../lib/errors.ts'

/** An error of the driver and its consequences. */
export type DatabaseFault = {
  /** An HttpError 503 if the database is down or too slow; otherwise the database's error. */
  readonly error: unknown
  /** Whether the connection must be closed. */
  readonly isUnusable: boolean
  /** Whether the connection was lost, so that the result of the last statement is unknown. */
  readonly isLost: boolean
}

/** @param error from the driver: an error that the database reported, or a connection failure. */
export function faultOf(error: unknown): DatabaseFault {
  if (!(error instanceof DatabaseError) || connectionLostCodes.test(error.code ?? ''))
    return { error: new ConnectionLostError(error), isUnusable: true, isLost: true }
  const { code = '' } = error
  if (code === frozenAccountCode)
    // Without a cause, so that the calls during a move log no warnings.
    return { error: unavailable(accountFrozen, 2), isUnusable: false, isLost: false }
  if (unavailableCodes.test(code))
    return {
      error: databaseUnavailable(error, failures[code] ?? 'other'),
      isUnusable: code !== statementTimeoutCode,
      isLost: false,
    }
  // A newer version changed a table, so statements prepared on this connection are outdated.
  return { error, isUnusable: isStalePlan(error), isLost: false }
}

/** A 503 for a lost connection: the result of its last statement is unknown. */
export class ConnectionLostError extends HttpError {
  constructor(cause: unknown) {
    super(503, 'The database does not respond.', { headers: { 'retry-after': '1' }, cause })
  }
}

/** A write of an account that is being moved, see the migration `001-tenancy.ts`. */
const frozenAccountCode = 'FG001'
const accountFrozen = 'The account is being moved to another database. Send the request again.'

/** The connection was lost (08), or the server shut down or crashed (57P01–57P05). */
const connectionLostCodes = /^(?:08...|57P0[1-5])$/u

/** A statement exceeded its time limit. The connection remains usable. */
const statementTimeoutCode = '57014'

/** No disk space is left (53100); a page of a table or of an index is damaged (XX001 and XX002). */
const failures: Readonly<Record<string, 'full disk' | 'damage'>> = {
  53100: 'full disk',
  XX001: 'damage',
  XX002: 'damage',
}

/**
 * The server cannot execute the statement: it exceeded its time limit (57014); no connection, memory
 * or disk space is left (53); files fail (58, XX); or it is a read-only standby after a failover
 * (25006).
 */
const unavailableCodes = /^(?:57014|25006|53...|58...|XX...)$/u

/**
 * Returns whether the same work may succeed if it is repeated from its beginning: the error is a
 * deadlock or serialization failure, or, with `race`, also the violation of a unique index, because
 * another transaction inserted the same row first.
 */
export function isRetryable(error: unknown, cause: 'race' | 'deadlock'): boolean {
  if (!(error instanceof DatabaseError)) return false
  const { code = '' } = error
  const isRace = cause === 'race' && code === '23505'
  return isRace || code === '40001' || code === '40P01' || isStalePlan(error)
}

/** Returns whether a statement did not get a lock within its time limit, also for an error that it caused. */
export function isLockTimeout(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === '55P03'
  return error instanceof Error && isLockTimeout(error.cause)
}

function isStalePlan({ code, message }: DatabaseError): boolean {
  return code === '0A000' && message.includes('cached plan')
}
