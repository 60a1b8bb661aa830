import type { ActionErrorCode } from '../../lib/errors.ts'

/** What may be wrong with an image before anybody looks for a face in it. */
export const imageErrors = [
  'IMAGE_DECODE_FAILED',
  'UNSUPPORTED_IMAGE_TYPE',
  'IMAGE_TOO_SMALL',
  'IMAGE_TOO_LARGE',
] as const satisfies readonly ActionErrorCode[]

/** What may be wrong with the one face that an action is about. */
export const faceErrors = [
  'NO_FACE_FOUND',
  'MULTIPLE_FACES',
  'FACE_TOO_SMALL',
  'LOW_QUALITY',
  'LIVENESS_FAILED',
] as const satisfies readonly ActionErrorCode[]
