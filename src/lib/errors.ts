/**
 * The table of all error codes. The documentation and OpenAPI are generated from it.
 *
 * `status` is the HTTP status of the response: with 200 the code is inside the envelope, with any other
 * status the body is `{"detail"}`. A call with an error is never billed.
 */
export const errorTable = {
  UNAUTHORIZED: {
    status: 401,
    condition:
      'The key is missing, unknown, truncated, revoked, expired or replaced by a rotation.',
    remedy: 'Send the whole key in X-Api-Key; create a new one if it was revoked or has expired.',
  },
  FORBIDDEN: {
    status: 200,
    condition: 'The key is valid but lacks a permission that this call needs.',
    remedy: 'Create a key with the permission named in the message.',
  },
  PAYMENT_REQUIRED: {
    status: 200,
    condition: 'The budget of the project does not cover the price of the call.',
    remedy:
      'Top up the wallet and allocate more to the project, or switch billing off: `facegate project set <project> --billing off`.',
  },
  RATE_LIMITED: {
    status: 200,
    condition:
      'The burst or sustained rate limit of the project is exceeded, or its limit of open or of failed liveness challenges.',
    remedy: 'Wait for Retry-After, then retry with jitter; or raise the limits of the project.',
  },
  INVALID_REQUEST: {
    status: 200,
    condition: 'A field is missing, unknown or out of range; the message names its path.',
    remedy: 'Correct the field that the message names. Malformed JSON returns HTTP 400.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    condition: 'The request body is over the limit.',
    remedy: 'Send smaller or fewer images.',
  },
  REQUEST_ID_CONFLICT: {
    status: 200,
    condition: 'Another call within 24 hours used the requestId, or its response was dropped.',
    remedy: 'Use a new requestId for a new call.',
  },
  IMAGE_DECODE_FAILED: {
    status: 200,
    condition: 'The image is empty, damaged or truncated.',
    remedy: 'Send the complete file as the camera wrote it.',
  },
  UNSUPPORTED_IMAGE_TYPE: {
    status: 200,
    condition:
      'The bytes do not match contentType, or are of a type that this server does not accept.',
    remedy:
      'Send JPEG or PNG and declare it as such; the setting IMAGE_TYPES_EXTRA permits further types.',
  },
  IMAGE_TOO_SMALL: {
    status: 200,
    condition: 'The shortest side of the image is below the limit.',
    remedy: 'Send a larger picture.',
  },
  IMAGE_TOO_LARGE: {
    status: 200,
    condition:
      'The image has more bytes, pixels, frames, JPEG scans, or PNG texts and colour profiles than the limit.',
    remedy: 'Scale the picture down, compress it more or remove its metadata.',
  },
  NO_FACE_FOUND: {
    status: 200,
    condition: 'No face was found in the image.',
    remedy: 'Show one face, upright, well lit and not cut off; or lower minFaceConfidence.',
  },
  MULTIPLE_FACES: {
    status: 200,
    condition:
      'Where facePolicy is "single", another face was found whose shorter side is at least half that of the largest face; where it is "strict", any other face.',
    remedy: 'Crop the picture to one face, or send facePolicy "largest".',
  },
  FACE_TOO_SMALL: {
    status: 200,
    condition: 'The face is smaller than minFaceSize.',
    remedy: 'Move closer to the camera, send a larger picture, or lower minFaceSize.',
  },
  LOW_QUALITY: {
    status: 200,
    condition: 'The quality of the face is below minQuality; the message lists the reasons.',
    remedy: 'Take the picture again and avoid the listed problems.',
  },
  LIVENESS_FAILED: {
    status: 200,
    condition:
      'requireLiveness was set and the face was not judged live, or livenessToken is not valid for this face; the message gives the reasons.',
    remedy:
      'Capture the person again, directly with the camera, near, upright, well lit and alone; for a token, complete a new challenge.',
  },
  CHALLENGE_NOT_FOUND: {
    status: 200,
    condition:
      'There is no open liveness challenge with this id: it is unknown, belongs to another project, was used or has expired.',
    remedy: 'Create a challenge with POST /v1/liveness/challenges and use it once, within 120 s.',
  },
  SUBJECT_NOT_FOUND: {
    status: 200,
    condition: 'The subject is absent from the active project or was already deleted.',
    remedy: 'Search for the subject with GET /v1/subjects.',
  },
  GROUP_NOT_FOUND: {
    status: 200,
    condition:
      'No subject of the gallery belongs to the group; for svc.identify, to any group of the request.',
    remedy: 'List the groups with GET /v1/groups.',
  },
  EXTERNAL_ID_CONFLICT: {
    status: 200,
    condition: 'Another subject of the gallery already has this externalId.',
    remedy:
      'Use another externalId; svc.enroll with onExisting "append" adds the face to that subject.',
  },
  DUPLICATE_SUBJECT: {
    status: 200,
    condition: 'The face is already enrolled as another subject.',
    remedy: 'Add the picture to that subject, or send duplicateCheck "report".',
  },
  SUBJECT_FACE_MISMATCH: {
    status: 200,
    condition:
      'The face does not match the subject it would be added to, or the other pictures of the call.',
    remedy:
      'Check the id of the subject and the picture that imageIndex names; to add the face nevertheless, send force true.',
  },
  FACE_ALREADY_ENROLLED: {
    status: 200,
    condition: 'The subject already has the template of this picture; only with allImages.',
    remedy: 'Nothing needs to be done. Another picture of the person reduces misses.',
  },
  TEMPLATE_LIMIT_REACHED: {
    status: 200,
    condition: 'The subject already has the maximum number of templates.',
    remedy: 'Remove a template of the subject with svc.updateSubject and removeFaceIds first.',
  },
  GALLERY_FULL: {
    status: 200,
    condition: 'The gallery already has the maximum number of templates.',
    remedy: 'Delete subjects, or use another gallery.',
  },
  MODEL_MISMATCH: {
    status: 200,
    condition: 'No template of the gallery or subject was created by a loaded recognition model.',
    remedy: 'Activate the model that created the templates, or enroll the people again.',
  },
} as const

export type ErrorCode = keyof typeof errorTable

/** The codes that are returned inside the envelope, with HTTP 200. */
export type ActionErrorCode = Exclude<ErrorCode, 'UNAUTHORIZED' | 'PAYLOAD_TOO_LARGE'>

/** Where a problem is, and what to change. */
type ProblemDetails = {
  /** JSON path of the parameter, such as `params.images[1].bytes`. */
  readonly path?: string
  /** The position in `params.images` of the image with the problem. */
  readonly imageIndex?: number
  /** That of the image, if the problem concerns an image. */
  readonly correlationId?: string
  /** The subject that the problem concerns. */
  readonly subjectId?: string
  /** One sentence: what to change. */
  readonly hint?: string
}

/** One item of `errors[]`. */
export type ActionProblem = ProblemDetails & {
  readonly code: ActionErrorCode
  readonly message: string
}

/** The most items of `errors[]`. */
export const problemsMax = 20

/**
 * Returns at most `problemsMax` problems, of which the last one counts the others.
 *
 * @param problems at least the first of `count` problems.
 */
export function limitProblems<Problem>(
  problems: readonly Problem[],
  count: number,
  toProblem: (message: string) => Problem,
): readonly Problem[] {
  if (count <= problemsMax) return problems
  const message = `${count - problemsMax + 1} further problems are not listed; correct these first`
  return [...problems.slice(0, problemsMax - 1), toProblem(message)]
}

type ActionErrorOptions = ErrorOptions &
  ProblemDetails & {
    readonly retryAfterS?: number
    /** The number of all problems; by default those of the list. */
    readonly count?: number
  }

/** An expected failure of a call: it becomes one item of `errors[]` in the envelope. */
export class ActionError extends Error {
  override readonly name = 'ActionError'
  readonly problems: readonly ActionProblem[]

  /**
   * Set for a temporary refusal, in whole seconds. The call is then neither settled nor stored for
   * replays: a retry with the same requestId runs.
   */
  readonly retryAfterS: number | undefined

  /**
   * @param message a message that starts with a JSON path and a colon states its location. Details that
   *   the message and `options` do not state are derived: the path and the index of the image, and the
   *   hint from the table of errors.
   */
  constructor(
    code: ActionErrorCode,
    message: string | readonly (string | ActionProblem)[],
    { cause, retryAfterS, count, ...details }: ActionErrorOptions = {},
  ) {
    const list = typeof message === 'string' ? [message] : message
    const listed = limitProblems(list, count ?? list.length, (text) => text)
    const problems = listed.map((problem) =>
      typeof problem === 'string' ? toProblem({ code, message: problem, ...details }) : problem,
    )
    super(
      problems.map((problem) => problem.message).join('; '),
      cause === undefined ? {} : { cause },
    )
    this.problems = problems
    this.retryAfterS = retryAfterS
  }

  /** Returns the same failure with other problems. */
  mapProblems(complete: (problem: ActionProblem) => ActionProblem): ActionError {
    const options = this.retryAfterS === undefined ? {} : { retryAfterS: this.retryAfterS }
    const problems = this.problems.map(complete)
    return new ActionError(this.code, problems, { cause: this, ...options })
  }

  get code(): ActionErrorCode {
    return this.problems[0]?.code ?? 'INVALID_REQUEST'
  }
}

const pathPattern =
  /^(?<path>(?:action|requestId|debug|(?:params|query|body|path)(?:\["(?:[^"\\]|\\.)*"\]|[^\s:"])*)): /u
const imagePattern = /^params\.images\[(?<index>\d+)\]/u

/** Completes the details of a problem. The message of a problem of an image names the image. */
export function toProblem(problem: ActionProblem): ActionProblem {
  const { code, message, ...details } = problem
  const stated = pathPattern.exec(message)?.groups?.['path']
  const imagePath =
    details.imageIndex === undefined ? undefined : `params.images[${details.imageIndex}]`
  const path = details.path ?? stated ?? imagePath
  const index = imagePattern.exec(path ?? '')?.groups?.['index']
  const imageIndex = details.imageIndex ?? (index === undefined ? undefined : Number(index))
  // INVALID_REQUEST has too many causes for one remedy.
  const hint = details.hint ?? (code === 'INVALID_REQUEST' ? undefined : errorTable[code].remedy)
  return {
    code,
    message: imagePath !== undefined && stated === undefined ? `${imagePath}: ${message}` : message,
    ...(path !== undefined && { path }),
    ...(imageIndex !== undefined && { imageIndex }),
    ...(details.correlationId !== undefined && { correlationId: details.correlationId }),
    ...(details.subjectId !== undefined && { subjectId: details.subjectId }),
    ...(hint !== undefined && { hint }),
  }
}

/** A failure without an envelope: the response has `status` and the body `{"detail": message}`. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    detail: string,
    options: ErrorOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail, options)
    this.status = status
    this.headers = options.headers ?? {}
  }
}

/** Creates an HTTP 503 for overload or a temporary failure; `Retry-After` is in whole seconds. */
export function unavailable(detail: string, retryAfterS = 1, cause?: unknown): HttpError {
  return new HttpError(503, detail, { headers: { 'retry-after': String(retryAfterS) }, cause })
}

/** The detail of a 404 response. */
export const noSuchRoute =
  'No such route. Calls of actions go to POST /v1/face/execute; GET /docs lists all routes.'
