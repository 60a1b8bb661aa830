import type { PlaygroundResponse } from '../../api/responses.ts'
import type { ActionValues } from '../../playground/result/action-values.ts'
import type { ResultEnvelope } from '../../playground/result/envelope.ts'
import type { RowResult } from './import-result.ts'

/** A failure that every further row would have. The import stops, and can be continued later. */
export class ImportStop extends Error {
  override readonly name = 'ImportStop'
}

type EnrollAnswer = Pick<PlaygroundResponse, 'envelope' | 'status' | 'retryAfterS'>

type EnrollSteps = {
  /** Derived from the content of the row. */
  readonly requestId: string
  readonly send: (requestId: string) => Promise<EnrollAnswer>
  /** @throws if the user stops the import. */
  readonly waitS: (seconds: number) => Promise<void>
}

/** The attempts for one row while the service refuses calls for their rate. */
export const attemptsMax = 20
const waitDefaultS = 1

/** The errors of svc.enroll that every further row would have. */
const lastingCodes: ReadonlySet<string> = new Set(['PAYMENT_REQUIRED', 'FORBIDDEN', 'GALLERY_FULL'])

/**
 * Enrolls one row, and waits as long as the service requires between attempts. All attempts have the
 * same requestId. If the service returns the stored response of an earlier import that need not be true
 * any more, the next requestId is derived from it.
 *
 * @throws ImportStop for a failure that every further row would have.
 */
export async function enrollEntry(
  { line, name }: Pick<RowResult, 'line' | 'name'>,
  { requestId: firstId, send, waitS }: EnrollSteps,
): Promise<RowResult> {
  let requestId = firstId
  for (let attempt = 1; ; attempt++) {
    const { envelope, status, retryAfterS } = await send(requestId)
    // The server validates its responses; a status other than 200 has only a detail.
    const body = envelope as EnrollBody
    if (isOutdated(body)) {
      requestId = await contentUuid(requestId)
      attempt = 0
      continue
    }
    const [problem] = body.errors ?? []
    if (status === 200 && body.ok) return { line, name, ...enrolledOf(body) }
    const isBusy = problem?.code === 'RATE_LIMITED' || status === 429 || status === 503
    if (isBusy && attempt < attemptsMax) {
      await waitS(retryAfterS ?? waitDefaultS)
      continue
    }
    const text = problem
      ? `${problem.code}: ${problem.message}`
      : (body.detail ?? `status ${status}`)
    if (isBusy || !problem || lastingCodes.has(problem.code)) throw new ImportStop(text)
    if (problem.code === 'DUPLICATE_SUBJECT')
      return { line, name, ...duplicateOf(problem.subjectId) }
    const message = problem.hint === undefined ? text : `${text} ${problem.hint}`
    return { line, name, result: 'refused', message }
  }
}

type EnrollBody = ResultEnvelope & {
  readonly detail?: string
  readonly meta?: { readonly idempotencyReplay?: true; readonly redacted?: true }
}

/** Whether a response is a stored one, with an error or without a subject that was deleted since. */
function isOutdated({ ok, meta }: EnrollBody): boolean {
  return meta?.idempotencyReplay === true && (!ok || meta.redacted === true)
}

const repeatedPictureText = 'already has the template of this picture'

function enrolledOf({ data }: ResultEnvelope): Pick<RowResult, 'result' | 'subjectId'> {
  const value = data?.results[0]?.value as unknown as ActionValues['svc.enroll'] | undefined
  const subjectId = value?.subjectId
  // A single picture that the subject already has is a success with a warning.
  const isRepeated = value?.warnings?.some((warning) => warning.includes(repeatedPictureText))
  if (isRepeated) return { result: 'unchanged', subjectId }
  return { result: value?.created ? 'enrolled' : 'added', subjectId }
}

function duplicateOf(
  subjectId: string | undefined,
): Pick<RowResult, 'result' | 'subjectId' | 'message'> {
  return { result: 'duplicate', subjectId, message: 'The face is similar to an enrolled subject' }
}

/**
 * Returns a UUID (version 8, RFC 9562) derived from a text: a row that is sent again after a lost
 * response is neither enrolled nor charged twice.
 */
export async function contentUuid(content: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(content))
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
  const [a, b, c, d, e] = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(13, 16),
    hex.slice(17, 20),
    hex.slice(20, 32),
  ]
  return `${a}-${b}-8${c}-8${d}-${e}`
}
