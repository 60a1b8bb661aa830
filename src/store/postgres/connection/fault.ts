import { DatabaseError } from 'pg'
import { HttpError, unavailable } from '../../../lib/errors.ts'

/** What an error of the driver means to whoever asked. */
export type DatabaseFault = {
  /** 503 when the database is down or too slow; else what the database said. */
  readonly error: unknown
  /** The connection is to be thrown away. */
  readonly isUnusable: boolean
  /** Nothing was heard: what was sent last may have happened or not. */
  readonly isLost: boolean
}

/** @param error what the driver threw: the database's own answer, or else that there was none. */
export function faultOf(error: unknown): DatabaseFault {
  if (!(error instanceof DatabaseError))
    return { error: new ConnectionLostError(error), isUnusable: true, isLost: true }
  const { code = '' } = error
  const isEnded = connectionLostCodes.test(code)
  if (isEnded) return { error: new ConnectionLostError(error), isUnusable: true, isLost: true }
  if (unavailableCodes.test(code))
    return {
      error: databaseUnavailable(error),
      isUnusable: code !== statementTimeoutCode,
      isLost: false,
    }
  // Another version has changed a table: what was prepared on this connection does not fit any more.
  return { error, isUnusable: isStalePlan(error), isLost: false }
}

/** 503 of a connection that is gone: nobody here knows what became of the last statement. */
export class ConnectionLostError extends HttpError {
  constructor(cause: unknown) {
    super(503, 'The database does not answer.', { headers: { 'retry-after': '1' }, cause })
  }
}

function databaseUnavailable(cause: unknown): Error {
  return unavailable('The database does not answer.', 1, cause)
}

/** The server ends the connection: lost (08), shut down or crashed (57P01–57P05). */
const connectionLostCodes = /^(?:08...|57P0[1-5])$/u

/** A statement took longer than it may; the connection is as good as before. */
const statementTimeoutCode = '57014'

/**
 * The server answers that it cannot: a statement took too long, no connection or memory or
 * disk is left (53), files fail (58, XX), it only reads, a standby after a failover (25006).
 */
const unavailableCodes = /^(?:57014|25006|53...|58...|XX...)$/u

/**
 * Whether the same work may go well when it is done again from its beginning: it was the victim of a
 * deadlock; or of a race, where two do the same thing at once and the other is first.
 */
export function isRetryable(error: unknown, of: 'race' | 'deadlock'): boolean {
  if (!(error instanceof DatabaseError)) return false
  const { code = '' } = error
  const isRace = of === 'race' && code === '23505'
  return isRace || code === '40001' || code === '40P01' || isStalePlan(error)
}

/** Whether a lock was not to be had in the time that the statement had for it. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '55P03'
}

function isStalePlan({ code, message }: DatabaseError): boolean {
  return code === '0A000' && message.includes('cached plan')
}
