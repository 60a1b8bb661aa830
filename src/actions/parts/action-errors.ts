import { ActionError, type ActionErrorCode } from '../../lib/errors.ts'
import type { SubjectSelector } from './subject-lookup.ts'

/** The errors of an image that cannot be analyzed. */
export const imageErrors = [
  'IMAGE_DECODE_FAILED',
  'UNSUPPORTED_IMAGE_TYPE',
  'IMAGE_TOO_SMALL',
  'IMAGE_TOO_LARGE',
] as const satisfies readonly ActionErrorCode[]

/** The errors of the face that an action compares or enrolls. */
export const faceErrors = [
  'NO_FACE_FOUND',
  'MULTIPLE_FACES',
  'FACE_TOO_SMALL',
  'LOW_QUALITY',
  'LIVENESS_FAILED',
] as const satisfies readonly ActionErrorCode[]

/** The errors of an action that compares faces. */
export const comparisonErrors = [
  ...imageErrors,
  ...faceErrors,
  'SUBJECT_FACE_MISMATCH',
  'MODEL_MISMATCH',
] as const satisfies readonly ActionErrorCode[]

/**
 * Throws the same error for subjects that never existed, were deleted or are in other galleries.
 *
 * @param lookup the parameter that names the subject; absent if the path of a route names it.
 */
export function subjectNotFound(lookup: SubjectSelector = {}): never {
  const { subjectId } = lookup
  const field = subjectId === undefined ? 'externalId' : 'subjectId'
  if (typeof lookup[field] !== 'string')
    throw new ActionError('SUBJECT_NOT_FOUND', 'The gallery contains no such subject.')
  throw new ActionError(
    'SUBJECT_NOT_FOUND',
    `params.${field}: the gallery contains no subject with this ${field}`,
    subjectId === undefined ? {} : { subjectId },
  )
}
