import { errorStatuses, type ErrorFormat } from '../http/error-response.ts'
import { ActionError, type HttpError, type ActionErrorCode } from '../lib/errors.ts'

/** Responds with `{message, code}` as CompreFace does. Clients detect images without a face by code 28. */
export const compreFaceErrorFormat: ErrorFormat = {
  statuses: errorStatuses.compreFace,
  faultMessage: 'Internal error; the log contains the details.',
  toBody: (error) =>
    error instanceof ActionError
      ? { message: messageOf(error), code: codes[error.code] ?? validationErrorCode }
      : { message: error.message, code: codeOf(error) },
}

const undefinedErrorCode = 0
const unknownNameCode = 11
const missingHeaderCode = 20
const validationErrorCode = 26
const serverErrorCode = 41

/** The numbers of `CommonExceptionCode` in CompreFace. Any other code is a validation error. */
const codes: Partial<Record<ActionErrorCode, number>> = {
  NO_FACE_FOUND: 28,
  FACE_TOO_SMALL: 28,
  MULTIPLE_FACES: 31,
  IMAGE_DECODE_FAILED: 21,
  UNSUPPORTED_IMAGE_TYPE: 21,
  SUBJECT_NOT_FOUND: unknownNameCode,
  FORBIDDEN: undefinedErrorCode,
  PAYMENT_REQUIRED: undefinedErrorCode,
  RATE_LIMITED: undefinedErrorCode,
}

function codeOf({ status }: HttpError): number {
  if (status === 401) return missingHeaderCode
  if (status === 404) return unknownNameCode
  return status >= 500 ? serverErrorCode : validationErrorCode
}

/** Returns the message of CompreFace where clients compare it, else our message with its code. */
function messageOf({ code, message }: ActionError): string {
  if (code === 'NO_FACE_FOUND') return 'No face is found in the given image'
  return `${message} (${code})`
}
