import { ActionError, type ActionErrorCode } from '../../lib/errors.ts'

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

/** Throws the same error for subjects that never existed, were deleted or are in other galleries. */
export function subjectNotFound(): never {
  throw new ActionError('SUBJECT_NOT_FOUND', 'The gallery contains no such subject.')
}
