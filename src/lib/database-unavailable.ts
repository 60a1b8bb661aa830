import { unavailable, type HttpError } from './errors.ts'

/** A 503 for a database that cannot execute a statement. */
export function databaseUnavailable(
  cause: unknown,
  { isDiskFull }: { readonly isDiskFull: boolean },
): HttpError {
  const full = 'The disk of the database is full.'
  return unavailable(isDiskFull ? full : 'The database does not respond.', 1, cause)
}
