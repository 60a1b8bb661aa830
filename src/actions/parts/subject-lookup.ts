import { invalidRequest } from '../../lib/errors.ts'

/** The parameters that can name a subject. */
export type SubjectSelector = {
  readonly subjectId?: string | undefined
  readonly externalId?: string | null | undefined
}

/**
 * Returns the id by which a call names a subject: the subjectId, or the externalId without one.
 *
 * @throws ActionError INVALID_REQUEST without an id.
 */
export function subjectLookup({ subjectId, externalId }: SubjectSelector) {
  if (subjectId !== undefined) return { subjectId }
  if (typeof externalId === 'string') return { externalId }
  throw invalidRequest('params.subjectId: missing; name the subject by subjectId or externalId')
}

/** @throws ActionError INVALID_REQUEST if a call names a subject twice. */
export function requireOneId({ subjectId, externalId }: SubjectSelector): void {
  if (subjectId === undefined || typeof externalId !== 'string') return
  throw invalidRequest('params.externalId: must be absent with subjectId; send one of them')
}
