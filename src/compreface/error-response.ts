import type { HttpResponse } from '../http/route.ts'
import { errorResponse } from '../http/error-response.ts'
import { ActionError, HttpError, type ActionErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'

/** An HTTP status and a number of `CommonExceptionCode` in CompreFace. */
type CompreFaceError = readonly [status: number, code: number]

/** Returns `{message, code}` as CompreFace does. Clients detect images without a face by code 28. */
export function compreFaceErrorResponse(error: unknown, requestId: string, log: Log): HttpResponse {
  if (error instanceof ActionError) {
    const [status, code] = errorsByCode[error.code] ?? validationError
    return { status, body: { message: messageOf(error), code } }
  }
  const { status, headers = {} } = errorResponse(error, requestId, log)
  const message =
    error instanceof HttpError ? error.message : 'Internal error; the log contains the details.'
  return { status, headers, body: { message, code: codeOf(status) } }
}

const undefinedErrorCode = 0
const missingHeaderCode = 20
const validationCode = 26
const serverErrorCode = 41

const validationError: CompreFaceError = [400, validationCode]

/** Any other code is a validation error. */
const errorsByCode: Partial<Record<ActionErrorCode, CompreFaceError>> = {
  NO_FACE_FOUND: [400, 28],
  FACE_TOO_SMALL: [400, 28],
  MULTIPLE_FACES: [400, 31],
  IMAGE_DECODE_FAILED: [400, 21],
  UNSUPPORTED_IMAGE_TYPE: [400, 21],
  SUBJECT_NOT_FOUND: [404, 11],
  FORBIDDEN: [403, undefinedErrorCode],
  PAYMENT_REQUIRED: [402, undefinedErrorCode],
  RATE_LIMITED: [429, undefinedErrorCode],
}

function codeOf(status: number): number {
  if (status === 401) return missingHeaderCode
  if (status === 404) return 11
  if (status >= 500) return serverErrorCode
  return validationCode
}

/** Returns the message of CompreFace where clients compare it, else our message with its code. */
function messageOf({ code, message }: ActionError): string {
  if (code === 'NO_FACE_FOUND') return 'No face is found in the given image'
  return `${message} (${code})`
}
