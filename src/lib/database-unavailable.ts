import { unavailable, type HttpError } from './errors.ts'

const details = {
  'full disk': 'The disk of the database is full.',
  damage: 'The database is damaged. Its operator must restore an intact copy.',
  other: 'The database does not respond.',
}

/** A 503 for a database that cannot execute a statement. */
export function databaseUnavailable(cause: unknown, failure: keyof typeof details): HttpError {
  return unavailable(details[failure], 1, cause)
}
