import { open } from 'node:fs/promises'
import { checkUrl } from './check-url.ts'
import type { PartialDownload } from './partial-download.ts'
import { PermanentDownloadError } from './permanent-download-error.ts'

/** How long and how much one may wait and fetch. */
export type TransferLimits = {
  readonly bytesMax: number
  /** Until the answer begins, and between two pieces of it, ms. */
  readonly idleMsMax: number
}

/** `total` is null where the source does not say. */
export type OnBytesReceived = (done: number, total: number | null) => void

/**
 * Fetches what `part` still lacks of the file at `url` and appends it to the part; from the start if
 * the file has changed since, or the source cannot send the rest alone.
 *
 * @throws RefusedError, or the error of a connection that was cut: then the part has grown.
 */
export async function transfer(
  url: string,
  part: PartialDownload,
  given: { readonly limits: TransferLimits; readonly onProgress: OnBytesReceived },
): Promise<void> {
  const { limits, onProgress } = given
  const silence = new AbortController()
  const watch = setTimeout(() => silence.abort(), limits.idleMsMax)
  try {
    const known = await part.readState(url)
    const answer = await requestRange(url, known, silence.signal)
    if (answer.status === 416) await part.remove()
    const from = responseOffset(answer, known.bytes)
    // Compressed on the way nevertheless, it has another length, and no part to go on with.
    const isCompressed = answer.headers.has('content-encoding')
    if (from === 0) await part.start(url, isCompressed ? new Headers() : answer.headers)
    const length = isCompressed ? null : answer.headers.get('content-length')
    const total = length === null ? null : from + Number(length)
    if (total !== null && total > limits.bytesMax) throw tooLargeError(url, limits)
    await using file = await open(part.path, 'a')
    let done = from
    for await (const piece of answer.body ?? []) {
      watch.refresh()
      done += piece.length
      if (done > limits.bytesMax) throw tooLargeError(url, limits)
      await file.write(piece)
      onProgress(done, total)
    }
    if (total !== null && done < total) throw new Error(`${url} ended at byte ${done} of ${total}`)
    await file.sync()
  } catch (error) {
    if (!silence.signal.aborted) throw error
    throw new Error(`${url} has sent nothing for too long`, { cause: error })
  } finally {
    clearTimeout(watch)
  }
}

const redirectsMax = 5

/** Follows redirects itself: each hop must be an address that may be used. */
async function requestRange(
  url: string,
  known: { readonly bytes: number; readonly validator: string },
  signal: AbortSignal,
): Promise<Response> {
  const resume = { range: `bytes=${known.bytes}-`, 'if-range': known.validator }
  // Compressed on the way, the bytes would be other ones than those that are counted and resumed.
  const headers = { 'accept-encoding': 'identity', ...(known.bytes > 0 && resume) }
  let at = checkUrl(new URL(url))
  for (let hop = 0; hop <= redirectsMax; hop++) {
    const answer = await fetch(at, { redirect: 'manual', headers, signal })
    const location = answer.headers.get('location')
    if (answer.status < 300 || answer.status >= 400 || location === null) return answer
    await answer.body?.cancel()
    const next = new URL(location, at)
    if (at.protocol === 'https:' && next.protocol !== 'https:')
      throw new PermanentDownloadError(`${url} leads away from https, to ${next.origin}`)
    at = checkUrl(next)
  }
  throw new PermanentDownloadError(`${url} was redirected more than ${redirectsMax} times`)
}

/**
 * Where the bytes of the answer begin in the file.
 *
 * @throws RefusedError when it is no file; Error when another try may bring it.
 */
function responseOffset(answer: Response, known: number): number {
  if (answer.status === 200) return 0
  const range = /^bytes (\d+)-/u.exec(answer.headers.get('content-range') ?? '')
  if (answer.status === 206 && known > 0 && Number(range?.[1]) === known) return known
  const said = `${answer.url} answered ${answer.status} ${answer.statusText}`.trim()
  if (isRetryable(answer.status)) throw new Error(said)
  throw new PermanentDownloadError(said)
}

/** Faults of the source, a busy one, and a part that is not (any more) a part of the file. */
function isRetryable(status: number): boolean {
  return status >= 500 || status === 429 || status === 416
}

function tooLargeError(url: string, { bytesMax }: TransferLimits): PermanentDownloadError {
  return new PermanentDownloadError(`${url} is larger than ${bytesMax} bytes`)
}
