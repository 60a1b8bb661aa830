import { ActionError } from '../../lib/errors.ts'

/** The one answer for subjects of others, deleted ones and ones that never were. */
export function subjectNotFound(): never {
  throw new ActionError('SUBJECT_NOT_FOUND', 'There is no such subject in the gallery.')
}
