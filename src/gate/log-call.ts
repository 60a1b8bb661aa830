import { ActionError, errorTable, HttpError, type ActionProblem } from '../lib/errors.ts'
import { uuidsInText } from '../lib/ids.ts'
import { roundTo } from '../lib/round-to.ts'
import type { NewCallRow } from '../store/schema.ts'
import type { Tx } from '../store/database.ts'
import type { AuthenticatedCall, RequestDescription } from './call-states.ts'

export type CallOutcome = {
  readonly code: string
  readonly isReplay?: boolean
  /** Why the call, or a part of it, failed. */
  readonly problems?: readonly LoggedProblem[]
}

/** Adds the row of a call to the request log. */
export async function logCall(tx: Tx, call: AuthenticatedCall, outcome: CallOutcome) {
  await tx.logCall(callRowOf(call, outcome))
}

type UnchargedRow = NewCallRow & { readonly detail: string | null }

/**
 * Returns the log row of a call that ends now and is not charged. Fields are copied one by one, so
 * that parameters cannot get into the log, except for the options that `callDetailOf` selects.
 */
export function callRowOf(call: AuthenticatedCall, outcome: CallOutcome): UnchargedRow {
  const { caller, requestId, action, startMs } = call
  const latencyMs = performance.now() - startMs
  return {
    atMs: call.atMs,
    keyId: caller.keyId,
    projectId: caller.projectId,
    requestId,
    action,
    code: outcome.code,
    latencyMs: roundTo(latencyMs, 3),
    costMicros: 0n,
    meteredMicros: 0n,
    isReplay: outcome.isReplay ? 1 : 0,
    transferId: null,
    detail: callDetailOf(call, outcome.problems ?? []),
  }
}

/** Returns the outcome of a call that failed with this error. */
export function outcomeOfError(error: unknown): CallOutcome {
  const code = errorCodeOf(error)
  return { code, problems: problemsOfError(error, code) }
}

/**
 * Returns the log's code of a failure: the code of the error table if it has one for the error or
 * its status, otherwise `HTTP_<status>`.
 */
export function errorCodeOf(error: unknown): string {
  if (error instanceof ActionError) return error.code
  const status = error instanceof HttpError ? error.status : 500
  if (status === 400) return 'INVALID_REQUEST'
  const found = Object.entries(errorTable).find(([, row]) => row.status === status)
  return found?.[0] ?? `HTTP_${status}`
}

export type LoggedProblem = Pick<ActionProblem, 'message' | 'path' | 'imageIndex' | 'hint'> & {
  readonly code: string
}

/** Why a call, or one of its images, failed. It is stored as JSON in the row of the call. */
export type CallDetail = {
  readonly problems: readonly LoggedProblem[]
  readonly parameters: RequestDescription['parameters']
}

/** The most problems of a call, and the most characters of each of their texts, that are stored. */
const problemsMax = 10
const textCharsMax = 500

/** These errors do not depend on the content of the request, and can be frequent. */
const contentIndependent: ReadonlySet<string> = new Set([
  'RATE_LIMITED',
  'FORBIDDEN',
  'PAYMENT_REQUIRED',
])

const noDescription: RequestDescription = { names: new Set(), texts: [], parameters: {} }

/** Returns the detail to store of a call with these problems; null if there are none. */
function callDetailOf(
  { describeRequest }: { readonly describeRequest?: (() => RequestDescription) | undefined },
  problems: readonly LoggedProblem[],
): string | null {
  if (problems.length === 0) return null
  const isDescribed = problems.some(
    ({ code, path }) => path !== undefined || !contentIndependent.has(code),
  )
  const { names, texts, parameters } = (isDescribed && describeRequest?.()) || noDescription
  const logged = problems.slice(0, problemsMax)
  const charsMax = Math.max(...logged.map(({ message }) => message.length))
  const isHidden = (text: string) => text !== '' && text.length <= charsMax && !ownWords.has(text)
  const hiddenTexts = new Set(texts.filter(isHidden))
  const detail: CallDetail = {
    problems: logged.map((problem) => toLogged(problem, names, hiddenTexts)),
    parameters,
  }
  return JSON.stringify(detail)
}

/** The name of a key or a field in the error about a body that cannot be read. */
const nameOfSender = /(?<=^The (?:key|field) ).+(?= is (?:duplicated|over)\b)/su

/** Returns the problems of a call that ended with an error. The message of a bug is not stored. */
function problemsOfError(error: unknown, code: string): readonly LoggedProblem[] {
  if (error instanceof ActionError) return error.problems
  const message =
    error instanceof HttpError
      ? error.message.replace(nameOfSender, hidden)
      : 'Internal error; the log of the service contains the details under this request id.'
  return [{ code, message }]
}

type ImageResult = { readonly ok: boolean; readonly value?: unknown }

/** Returns the problems of the images that failed although the call succeeded. */
export function problemsOfResults(results: readonly ImageResult[]): readonly LoggedProblem[] {
  return results.flatMap(({ ok, value }) => {
    // The envelope contains an error object in the value of each failed image.
    const { error } = Object(value) as { readonly error?: LoggedProblem }
    return ok || error === undefined ? [] : [error]
  })
}

/** Copies the fields one by one: ids of subjects and images are not stored. */
function toLogged(
  { code, message, path, imageIndex, hint }: LoggedProblem,
  names: ReadonlySet<string>,
  hiddenTexts: ReadonlySet<string>,
): LoggedProblem {
  const toSafe = (found: string): string => keepNames(found, names)
  const safePath = path === undefined ? undefined : toSafe(path)
  const paths = new Set(path === undefined ? [] : [path])
  const withoutPaths = replaceTexts(message, paths, safePath ?? '').replaceAll(pathInText, toSafe)
  const redacted = replaceTexts(withoutPaths, hiddenTexts, hidden).replaceAll(uuidsInText, hidden)
  return {
    code,
    message: redacted.slice(0, textCharsMax),
    ...(safePath !== undefined && { path: safePath.slice(0, textCharsMax) }),
    ...(imageIndex !== undefined && { imageIndex }),
    // Hints are texts of the service: they contain no value of a request.
    ...(hint !== undefined && { hint: hint.slice(0, textCharsMax) }),
  }
}

const hidden = '…'

/** Names that are part of every path. */
const pathRoots: ReadonlySet<string> = new Set(
  'params body query path action requestId debug validateOnly images bytes contentType correlationId kind'.split(
    ' ',
  ),
)

/** Replaces every name of a JSON path that is not one of the API. */
function keepNames(path: string, names: ReadonlySet<string>): string {
  return path.replaceAll(/[^.[\]]+/gu, (step) =>
    /^\d{1,4}$/u.test(step) || pathRoots.has(step) || names.has(step) ? step : hidden,
  )
}

const pathInText = /\b(?:params|body|query|path)[.[][^\s:;,]*/gu

/** The words of the error table. A value that equals one of them identifies no person. */
const ownWords: ReadonlySet<string> = new Set(
  Object.values(errorTable).flatMap(
    ({ condition, remedy }) => `${condition} ${remedy}`.match(/\p{L}[\p{L}.]*\p{L}/gu) ?? [],
  ),
)

/** Places where a text can start or end without being part of a longer word. */
const wordStart = /(?<=^|[^\p{L}\p{N}])/gu
const wordEnd = /(?=$|[^\p{L}\p{N}])/gu

/** The most characters of the parts of one message that are looked up, which takes one millisecond. */
const lookupCharsMax = 1_000_000
/** The characters that are hashed in the time of a lookup without any. */
const charsPerLookup = 50

/**
 * Replaces each text where it is not part of a longer word, the longest first. The words of the message
 * are looked up in the texts: a pattern for each of the thousands of texts that a request can have would
 * block the event loop for seconds. A message with more possible parts than `lookupCharsMax` permits is
 * replaced.
 */
function replaceTexts(message: string, texts: ReadonlySet<string>, replacement: string): string {
  const lengths = new Set([...texts].map(({ length }) => length))
  const partChars = [...lengths].reduce((sum, length) => sum + length + charsPerLookup, 0)
  if (message.length * partChars > lookupCharsMax) return replacement
  const placesOf = (pattern: RegExp) =>
    new Set([...message.matchAll(pattern)].map(({ index }) => index))
  const starts = placesOf(wordStart)
  const ends = placesOf(wordEnd)
  // Noncharacters of Unicode keep the places of the replaced texts.
  let marked = message
  for (const length of [...lengths].toSorted((a, b) => b - a))
    for (const start of starts) {
      const end = start + length
      if (!ends.has(end) || !texts.has(marked.slice(start, end))) continue
      marked = `${marked.slice(0, start)}${'\ufffe'.padEnd(length, '\uffff')}${marked.slice(end)}`
      starts.add(end)
      ends.add(start)
    }
  return marked.replaceAll(/\ufffe\uffff*/gu, () => replacement)
}
