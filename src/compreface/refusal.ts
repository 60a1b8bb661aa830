import type { Answer } from '../http/exchange.ts'
import { refusal } from '../http/refusal.ts'
import { ActionError, HttpError, type ActionErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'

/** A status and the number that CompreFace has for it in its `CommonExceptionCode`. */
type Sign = readonly [status: number, code: number]

/** `{message, code}` as CompreFace says it. Clients tell pictures without a face by code 28. */
export function refusalOf(error: unknown, requestId: string, log: Log): Answer {
  if (error instanceof ActionError) {
    const [status, code] = signs[error.code] ?? wrong
    return { status, body: { message: messageOf(error), code } }
  }
  const { status, headers = {} } = refusal(error, requestId, log)
  const message = error instanceof HttpError ? error.message : 'Internal error; the log tells more.'
  return { status, headers, body: { message, code: codeOf(status) } }
}

const undefinedCode = 0
const missingHeader = 20
const violation = 26
const serviceFailed = 41

const wrong: Sign = [400, violation]

/** What is not here is a constraint that was violated. */
const signs: Partial<Record<ActionErrorCode, Sign>> = {
  NO_FACE_FOUND: [400, 28],
  FACE_TOO_SMALL: [400, 28],
  MULTIPLE_FACES: [400, 31],
  IMAGE_DECODE_FAILED: [400, 21],
  UNSUPPORTED_IMAGE_TYPE: [400, 21],
  SUBJECT_NOT_FOUND: [404, 11],
  FORBIDDEN: [403, undefinedCode],
  PAYMENT_REQUIRED: [402, undefinedCode],
  RATE_LIMITED: [429, undefinedCode],
}

function codeOf(status: number): number {
  if (status === 401) return missingHeader
  if (status === 404) return 11
  if (status >= 500) return serviceFailed
  return violation
}

/** The text of CompreFace where clients compare it; elsewhere ours, with the name of the error. */
function messageOf({ code, message }: ActionError): string {
  if (code === 'NO_FACE_FOUND') return 'No face is found in the given image'
  return `${message} (${code})`
}
