import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { describeError } from '../../lib/observability/describe-error.ts'
import type { ServiceAccess } from '../context/saved-context.ts'
import { type ImportPace, readStatedLimit } from './import-pace.ts'
import { type ImportEntry, parseJsonText } from './list-entries.ts'
import failures from './connect-failures.json' with { type: 'json' }

/** The result of an enrollment. */
export type EnrollResult = {
  readonly ok: boolean
  readonly code?: string | undefined
  readonly message?: string | undefined
}

type EnrollSenderOptions = ServiceAccess & {
  readonly groups: readonly string[]
  readonly facePolicy: string | undefined
  readonly pace: ImportPace
  /** Ends the waits between calls; a call that was sent is completed. */
  readonly signal: AbortSignal
}

/** A failure that every further image would have. The import ends. */
export class LastingFailure extends Error {
  override readonly name = 'LastingFailure'
}

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  path: z.string().optional(),
})

/** The members of a response that commands read. */
export const envelopeSchema = z.object({
  ok: z.boolean(),
  data: z.object({ results: z.array(z.object({ value: z.unknown() })) }).nullish(),
  errors: z.array(errorSchema),
  meta: z.object({ idempotencyReplay: z.boolean(), redacted: z.boolean() }).partial().optional(),
})

const attemptsMax = 20
const waitMsMax = 30_000

/**
 * Returns a function that enrolls one image with `svc.enroll`. The requestId is derived from the
 * content, so that a retry after a lost response does not enroll the image twice. If the service returns
 * a stored response that need not be true any more, the next requestId is derived from this one.
 *
 * @throws LastingFailure when every further image would fail, or the service does not respond in 20
 *   attempts; AbortError when `signal` is aborted before the image is sent.
 */
export function createEnrollSender(options: EnrollSenderOptions) {
  const { url, key, pace, signal } = options
  return async (entry: ImportEntry): Promise<EnrollResult> => {
    const image = await readFile(entry.file).catch((cause: unknown) => describeError(cause))
    if (typeof image === 'string') return { ok: false, code: 'FILE_NOT_READABLE', message: image }
    const params = toParams(image, entry, options)
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const request = { method: 'POST', headers, redirect: 'manual' } as const
    let requestId = contentUuid(JSON.stringify(params))
    for (let attempt = 1; ; attempt++) {
      await pace.waitForTurn(signal)
      const body = JSON.stringify({ action: 'svc.enroll', requestId, params })
      const sent = fetch(`${url}/v1/face/execute`, { ...request, body })
      const response = await sent.catch(() => undefined)
      const result = response && (await parseResponse(response, entry, pace))
      if (result === 'outdated') {
        requestId = contentUuid(requestId)
        attempt = 0
        continue
      }
      if (result) return result
      if (attempt === attemptsMax)
        throw new LastingFailure(
          `${url} did not respond in ${attemptsMax} attempts; check the service`,
        )
      const waitS = Number(response?.headers.get('retry-after') ?? 1)
      // The random part keeps several senders from retrying at the same time.
      const waitMs = Math.min(waitMsMax, waitS * 1000 * (1 + Math.random()))
      await sleep(waitMs, undefined, { signal })
    }
  }
}

const pngSignature = Buffer.from('\x89PNG', 'latin1')

function toParams(
  image: Buffer,
  { externalId, displayName, groups }: ImportEntry,
  { groups: addedGroups, facePolicy }: EnrollSenderOptions,
) {
  // By the content: exports of other services have file names with a wrong extension.
  const contentType = image.subarray(0, 4).equals(pngSignature) ? 'image/png' : 'image/jpeg'
  return {
    images: [{ kind: 'image', bytes: image.toString('base64'), contentType }],
    externalId,
    displayName,
    groups: [...new Set([...groups, ...addedGroups])],
    facePolicy,
  }
}

/** Returns a UUID (version 8, RFC 9562) derived from a text: equal texts have equal UUIDs. */
function contentUuid(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/u, '$1-$2-8$3-8$4-$5')
}

/**
 * Returns undefined when the call should be retried, and `outdated` for the stored response of an
 * earlier run if it is an error or a subject in it was deleted. @throws LastingFailure.
 */
async function parseResponse(response: Response, entry: ImportEntry, pace: ImportPace) {
  const { status } = response
  const text = await response.text().catch(() => '')
  if (lastingStatuses.has(status)) throw new LastingFailure(lastingFailure(status, detailOf(text)))
  if (status === 408 || status === 429 || status >= 500) return undefined
  if (status !== 200) return { ok: false, code: `HTTP_${status}`, message: detailOf(text) || text }
  const envelope = parseJsonText(envelopeSchema, text)
  if (!envelope) return undefined
  const { ok, meta = {} } = envelope
  if (meta.idempotencyReplay && (!ok || meta.redacted)) return 'outdated'
  const [error] = envelope.errors
  if (error?.code === 'RATE_LIMITED') {
    pace.learn(response.headers)
    return undefined
  }
  return ok ? { ok } : toRefusal(error, entry)
}

function toRefusal(error: EnrollError | undefined, entry: ImportEntry): EnrollResult {
  const failure = error && lastingError(error, entry)
  if (failure !== undefined) throw new LastingFailure(failure)
  const remedy = error?.code === 'MULTIPLE_FACES' ? '; or pass --face-policy largest' : ''
  return { ok: false, code: error?.code, message: error && `${error.message}${remedy}` }
}

const answerMsMax = 15_000

const meSchema = z.object({ project: z.object({ projectId: z.string() }) })

/**
 * Checks before an import that the service can be reached and accepts the key.
 *
 * @returns the project of the key, and its rate limit if the service states it.
 * @throws Error with the remedy.
 */
export async function checkService({ url, key }: ServiceAccess) {
  const headers = { 'x-api-key': key }
  const response = await requestService(url, '/v1/me', { headers }, answerMsMax)
  const { status } = response
  const body = await response.text()
  if (status >= 300 && status < 400)
    throw new Error(`${url} is a redirect, which is not followed with the key; check --url`)
  if (lastingStatuses.has(status)) throw new Error(lastingFailure(status, detailOf(body)))
  const facts = parseJsonText(meSchema, body)
  if (facts) return { ...facts.project, limit: readStatedLimit(response.headers) }
  const detail = detailOf(body).replace(/\.$/u, '') || 'no project of the key'
  throw new Error(
    `${url} returned HTTP ${status}: ${detail}; check --url, or run the command later`,
  )
}

/** Sends a request to a service. @throws Error with the remedy when there is no response. */
export async function requestService(
  url: string,
  path: string,
  request: RequestInit,
  msMax: number,
): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(msMax)
    // Following a redirect would send the key to its target.
    return await fetch(`${url}${path}`, { ...request, redirect: 'manual', signal })
  } catch (cause) {
    throw new Error(
      `${url} cannot be reached: ${reasonOf(cause)}; start the service, or pass its address with --url`,
      { cause },
    )
  }
}

const connectFailures: Readonly<Record<string, string>> = failures

/** Returns why a request has no response. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  if (error.name === 'TimeoutError') return 'no response in time'
  const code = 'code' in error ? String(error.code) : ''
  return connectFailures[code] ?? (error.message || code)
}

const detailSchema = z.object({ detail: z.string() })

/** Returns the text of a body `{"detail"}`. */
export function detailOf(body: string): string {
  return parseJsonText(detailSchema, body)?.detail ?? ''
}

const createKey =
  'facegate key create --project <project> --permissions svc.enroll,svc.updateSubject'

/** The remedies of errors that every further image would have, by their code. */
const remedies: Readonly<Record<string, string>> = {
  FORBIDDEN: `create a key with ${createKey}`,
  PAYMENT_REQUIRED:
    'add money with facegate wallet top-up --amount <micros>, then ' +
    'facegate budget allocate --project <project> --amount <micros>',
  GALLERY_FULL: 'delete subjects, or import into another project',
}

const statusRemedies: Readonly<Record<number, string>> = {
  401: `create a key with ${createKey}, and pass it with --key or FACEGATE_KEY`,
  402: remedies['PAYMENT_REQUIRED'] ?? '',
  403: remedies['FORBIDDEN'] ?? '',
}

/** One item of `errors[]` of a response. */
type EnrollError = z.output<typeof errorSchema>

/** Returns the message about a status that every further image would have. */
function lastingFailure(status: number, detail: string): string {
  const remedy = statusRemedies[status] ?? 'pass the address of a Facegate service with --url'
  const reason =
    status === 401 ? 'the service rejects the key' : `the service returned HTTP ${status}`
  return `${reason}${detail === '' ? '' : `: ${detail.replace(/\.$/u, '')}`}; ${remedy}`
}

/** The statuses that every further image would have. */
const lastingStatuses = new Set([401, 402, 403, 404, 405])

/**
 * Returns the message about an error that every further image would have; undefined for an error of
 * one image or one subject.
 */
function lastingError(error: EnrollError, entry: ImportEntry): string | undefined {
  const { code, message } = error
  const text = message.replace(/\.$/u, '')
  const remedy = remedies[code]
  if (remedy !== undefined) return `${code}: ${text}; ${remedy}`
  // The options of the command are the same for every image; the groups of a list are not.
  const isOption =
    error.path?.startsWith('params.facePolicy') === true ||
    (error.path?.startsWith('params.groups') === true && entry.groups.length === 0)
  return code === 'INVALID_REQUEST' && isOption ? `${code}: ${text}; correct the option` : undefined
}
